#include "doctor/machine_findings.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstdlib>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

namespace sonde::doctor {
namespace {

/// Allows events as a level of perf_event_paranoid would.
class FakeSys final : public Sys {
 public:
  int hardware_error = ENOENT;
  int on_cpu_error = 0, with_kernel_error = 0, software_error = 0;
  uid_t user = 0;
  std::optional<uint64_t> breakpoint_hits;

  SysResult<int> perf_event_open(perf_event_attr* attr, pid_t /*pid*/, int cpu, int /*group*/,
                                 unsigned long /*flags*/) override {
    if (attr->type == PERF_TYPE_HARDWARE) return answer(hardware_error);
    if (software_error != 0) return answer(software_error);
    if (cpu >= 0 && on_cpu_error != 0) return answer(on_cpu_error);
    return answer(attr->exclude_kernel == 0 ? with_kernel_error : 0);
  }
  SysResult<int> ioctl(int, unsigned long, uint64_t) override { return std::unexpected(ENOSYS); }
  SysResult<void*> mmap(size_t, int, int, int, off_t) override { return std::unexpected(ENOSYS); }
  SysResult<int> munmap(void*, size_t) override { return std::unexpected(ENOSYS); }
  SysResult<int> open(const std::string&, int, mode_t) override { return std::unexpected(ENOSYS); }
  SysResult<size_t> read(int, void* buffer, size_t size) override {
    if (!breakpoint_hits || size != sizeof *breakpoint_hits) return std::unexpected(ENOSYS);
    std::memcpy(buffer, &*breakpoint_hits, size);
    return size;
  }
  SysResult<size_t> write(int, const void*, size_t) override { return std::unexpected(ENOSYS); }
  SysResult<int> close(int) override { return 0; }
  uid_t geteuid() override { return user; }

 private:
  static SysResult<int> answer(int error) {
    if (error != 0) return std::unexpected(error);
    return 100;
  }
};

class MachineFindings : public ::testing::Test {
 protected:
  MachineFindings() {
    std::string name = ::testing::TempDir() + "machine-findings-XXXXXX";
    directory_ = ::mkdtemp(name.data());
  }
  ~MachineFindings() override { std::filesystem::remove_all(directory_); }

  void file(const std::string& path, const std::string& content) {
    std::filesystem::path whole = directory_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << content;
  }
  Finding of(const std::string& subject) {
    std::vector<Finding> findings = examine_machine({sys_, directory_, ""});
    auto found = std::ranges::find(findings, subject, &Finding::subject);
    return found == findings.end() ? Finding{"none"} : *found;
  }

  std::string directory_;
  FakeSys sys_;
};

TEST_F(MachineFindings, EventsAreTriedFromTheWholeMachineDown) {
  EXPECT_EQ(of("events").state, Finding::State::kMissing);
  file("/proc/sys/kernel/perf_event_paranoid", "2\n");
  EXPECT_EQ(of("events").state, Finding::State::kGood);
  sys_.on_cpu_error = EACCES;
  EXPECT_EQ(of("events").what, "only of your own processes (kernel.perf_event_paranoid is 2)");
  sys_.with_kernel_error = EACCES;
  EXPECT_NE(of("events").what.find("not in the kernel"), std::string::npos);
  EXPECT_EQ(of("events").remedy, "sysctl kernel.perf_event_paranoid=-1");
  sys_.software_error = EPERM;
  EXPECT_EQ(of("events").state, Finding::State::kMissing);
  EXPECT_NE(of("events").remedy.find("--cap-add PERFMON"), std::string::npos);
}

TEST_F(MachineFindings, BreakpointsMayNeverFire) {
  EXPECT_EQ(of("hardware breakpoints").subject, "none");  // it cannot be tried
  sys_.breakpoint_hits = 1;
  EXPECT_EQ(of("hardware breakpoints").state, Finding::State::kGood);
  sys_.breakpoint_hits = 0;
  EXPECT_EQ(of("hardware breakpoints").state, Finding::State::kMissing);
}

TEST_F(MachineFindings, CountersAreMissingInAVirtualMachine) {
  EXPECT_EQ(of("hardware counters").remedy, "");
  file("/proc/cpuinfo", "flags : fpu hypervisor sse\n");
  EXPECT_NE(of("hardware counters").what.find("virtual machine"), std::string::npos);
  sys_.hardware_error = 0;
  EXPECT_EQ(of("hardware counters").state, Finding::State::kGood);
  file("/proc/sys/kernel/nmi_watchdog", "1\n");
  EXPECT_EQ(of("hardware counters").remedy, "sysctl kernel.nmi_watchdog=0");
}

TEST_F(MachineFindings, ALoweredRateIsRaisedAgain) {
  file("/proc/sys/kernel/perf_event_max_sample_rate", "250\n");
  EXPECT_EQ(of("sampling rate").remedy, "sysctl kernel.perf_event_max_sample_rate=100000");
  file("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
  EXPECT_EQ(of("sampling rate").state, Finding::State::kGood);
}

TEST_F(MachineFindings, HiddenAddressesAreNoSymbols) {
  file("/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T last\n");
  EXPECT_EQ(of("kernel symbols").state, Finding::State::kMissing);
  // Per-CPU symbols begin at 0.
  file("/proc/kallsyms", "0000000000000000 D __per_cpu_start\nffffffff81000000 T _text\n");
  EXPECT_EQ(of("kernel symbols").state, Finding::State::kGood);
}

TEST_F(MachineFindings, TracefsIsLookedForInBothPlaces) {
  EXPECT_EQ(of("tracepoints").remedy, "mount -t tracefs nodev /sys/kernel/tracing");
  file("/sys/kernel/debug/tracing/events/sched/sched_switch/id", "1\n");
  EXPECT_EQ(of("tracepoints").state, Finding::State::kGood);
  EXPECT_EQ(of("probes in programs").state, Finding::State::kMissing);
  file("/sys/kernel/debug/tracing/uprobe_events", "");
  EXPECT_EQ(of("probes in programs").state, Finding::State::kGood);
}

TEST_F(MachineFindings, ProgramsNeedTypesAndRoot) {
  EXPECT_EQ(of("BPF").state, Finding::State::kMissing);
  file("/sys/kernel/btf/vmlinux", "x");
  EXPECT_EQ(of("BPF").state, Finding::State::kGood);
  sys_.user = 1000;
  EXPECT_EQ(of("BPF").remedy, "sudo");
}

}  // namespace
}  // namespace sonde::doctor
