// For tests: a machine with a CPU PMU, an uncore PMU of two units and a few tracepoints, as files
// in a temporary directory.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "event/parser/event_parser.h"

namespace sonde {

class TestMachine {
 public:
  TestMachine() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sonde_event_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  TestMachine(const TestMachine&) = delete;
  TestMachine& operator=(const TestMachine&) = delete;
  ~TestMachine() { std::filesystem::remove_all(directory_); }

  void write(std::string_view path, std::string_view text) const {
    std::filesystem::path file = std::filesystem::path(directory_) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  [[nodiscard]] std::string pmu_directory() const { return directory_ + "/devices"; }
  [[nodiscard]] std::string tracing_directory() const { return directory_ + "/tracing"; }

  void add_cpu() const {
    write("devices/cpu/type", "4");
    write("devices/cpu/format/event", "config:0-7,32-35");
    write("devices/cpu/format/umask", "config:8-15");
    write("devices/cpu/format/inv", "config:23");
    write("devices/cpu/format/cmask", "config:24-31");
    write("devices/cpu/format/ldlat", "config1:0-15");
    write("devices/cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3");
    write("devices/cpu/events/bus-time", "event=0x19,domain=?");
    write("devices/cpu/format/domain", "config2:0-3");
    write("devices/cpu/caps/pmu_name", "skylake");
    write("devices/cpu/caps/branches", "32");
  }
  void add_uncore() const {
    for (const char* unit : {"0", "1"}) {
      std::string pmu = std::string("devices/uncore_cbox_") + unit;
      write(pmu + "/type", std::string("1") + unit);
      write(pmu + "/cpumask", "0,18");
      write(pmu + "/format/event", "config:0-7");
      write(pmu + "/events/clockticks", "event=0xff");
      write(pmu + "/events/clockticks.unit", "MiB");
      write(pmu + "/events/clockticks.scale", "6.103515625e-5");
      write(pmu + "/events/clockticks.per-pkg", "1");
    }
  }
  void add_software() const { write("devices/software/type", "1"); }
  void add_tracepoints() const {
    write("tracing/events/header_page", "");
    add_tracepoint("sched", "sched_switch", 372);
    add_tracepoint("sched", "sched_wakeup", 374);
    add_tracepoint("sched", "sched_process_exec", 370);
    add_tracepoint("syscalls", "sys_enter_openat", 700);
    add_tracepoint("syscalls", "sys_exit_openat", 699);
    write("tracing/events/sched/enable", "0");
    write("tracing/events/sched/filter", "none");
  }
  void add_tracepoint(const std::string& system, const std::string& name, int id) const {
    std::string directory = "tracing/events/" + system + '/' + name;
    write(directory + "/id", std::to_string(id));
    write(directory + "/format", "name: " + name + "\nID: " + std::to_string(id));
  }

 private:
  std::string directory_;
};

}  // namespace sonde
