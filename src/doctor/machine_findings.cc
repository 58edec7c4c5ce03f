#include "doctor/machine_findings.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <tuple>

#include "base/file.h"
#include "base/process/hardware_breakpoints.h"
#include "base/process/seccomp.h"
#include "base/text.h"
#include "elf/build_id.h"
#include "symbol/debug_package.h"
#include "symbol/debuginfod.h"
#include "symbol/object_finder.h"

namespace sonde::doctor {
namespace {

using enum Finding::State;

class MachineExaminer {
 public:
  explicit MachineExaminer(const MachineChecks& checks) : checks_(checks) {}

  std::vector<Finding> examine() && {
    check_events();
    check_counters();
    check_breakpoints();
    check_rate();
    check_kernel_symbols();
    check_kernel_code();
    check_tracepoints();
    check_probes();
    check_bpf();
    check_debuginfod();
    return std::move(findings_);
  }

 private:
  void add(std::string subject, Finding::State state, std::string what, std::string remedy = {}) {
    findings_.push_back({std::move(subject), state, std::move(what), std::move(remedy)});
  }
  [[nodiscard]] std::string path(std::string_view name) const {
    return checks_.root + std::string(name);
  }
  /// Without the newline; absent if it cannot be read.
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const {
    Result<std::string> content = read_file(path(name));
    if (!content) return std::nullopt;
    while (content->ends_with('\n')) content->pop_back();
    return std::move(*content);
  }
  [[nodiscard]] std::optional<long> number(std::string_view name) const {
    std::optional<std::string> content = text(name);
    long value = 0;
    if (!content || std::from_chars(content->data(), content->data() + content->size(), value).ec !=
                        std::errc())
      return std::nullopt;
    return value;
  }
  [[nodiscard]] bool is_root() const { return checks_.sys.geteuid() == 0; }

  /// 0, or the errno of opening such an event.
  [[nodiscard]] int try_event(uint32_t type, uint64_t config, bool with_kernel, bool on_cpu) const {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = type;
    attr.config = config;
    attr.disabled = 1;
    attr.exclude_kernel = attr.exclude_hv = with_kernel ? 0 : 1;
    SysResult<int> fd = checks_.sys.perf_event_open(&attr, on_cpu ? -1 : 0, on_cpu ? 0 : -1, -1,
                                                    PERF_FLAG_FD_CLOEXEC);
    if (!fd) return fd.error();
    (void)checks_.sys.close(*fd);
    return 0;
  }
  [[nodiscard]] int try_clock(bool with_kernel, bool on_cpu) const {
    return try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, with_kernel, on_cpu);
  }

  void check_events() {
    constexpr const char* kSubject = "events";
    std::optional<long> paranoid = number("/proc/sys/kernel/perf_event_paranoid");
    if (!paranoid)
      return add(kSubject, kMissing, "the kernel has no perf events (CONFIG_PERF_EVENTS)",
                 "boot a kernel that has them");
    std::string level = fmt::format("kernel.perf_event_paranoid is {}", *paranoid);
    if (try_clock(true, true) == 0)
      return add(kSubject, kGood, "of all processes, in kernel and programs (" + level + ")");
    constexpr const char* kAllow = "sysctl kernel.perf_event_paranoid=-1";
    if (try_clock(true, false) == 0)
      return add(kSubject, kPart, "only of your own processes (" + level + ")", kAllow);
    int error = try_clock(false, false);
    if (error == 0)
      return add(kSubject, kPart,
                 "only of your own processes, and not in the kernel (" + level + ")", kAllow);
    if (seccomp_refuses_events(checks_.sys))
      return add(kSubject, kMissing, fmt::format("perf_event_open: {}", std::strerror(error)),
                 seccomp_advice("perf_event_open"));
    std::string remedy = error == EACCES || error == EPERM
                             ? std::string(kAllow) + "; in a container: --cap-add PERFMON"
                             : std::string();
    add(kSubject, kMissing, fmt::format("perf_event_open: {} ({})", std::strerror(error), level),
        remedy);
  }

  void check_counters() {
    constexpr const char* kSubject = "hardware counters";
    int error = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, false);
    if (error == 0) {
      if (number("/proc/sys/kernel/nmi_watchdog") == 1)
        return add(kSubject, kPart, "work; the NMI watchdog occupies one of them",
                   "sysctl kernel.nmi_watchdog=0");
      return add(kSubject, kGood, "work");
    }
    if (seccomp_refuses_events(checks_.sys))
      return add(kSubject, kMissing, std::strerror(error), seccomp_advice("perf_event_open"));
    if (error == EACCES || error == EPERM)
      return add(kSubject, kMissing, std::strerror(error), "sysctl kernel.perf_event_paranoid=2");
    bool is_guest = text("/proc/cpuinfo").value_or("").find(" hypervisor") != std::string::npos;
    add(kSubject, kMissing,
        is_guest ? "this is a virtual machine that has none; software events and tracepoints work"
                 : "none; software events and tracepoints work",
        is_guest ? "on the host, give the machine a virtual PMU (QEMU: -cpu host,pmu=on)" : "");
  }

  void check_breakpoints() {
    constexpr const char* kSubject = "hardware breakpoints";
    std::optional<bool> fire = hardware_breakpoints_fire(checks_.sys);
    if (!fire) return;  // "events" says why
    if (*fire) return add(kSubject, kGood, "work");
    add(kSubject, kMissing,
        "never fire in this virtual machine: mem: events count nothing, and record -e sonde_step// "
        "cannot filter",
        "boot a machine that has debug registers");
  }

  void check_rate() {
    constexpr long kUsualRate = 100'000;
    std::optional<long> rate = number("/proc/sys/kernel/perf_event_max_sample_rate");
    if (!rate) return;
    std::string what = fmt::format("at most {} samples per second and CPU", *rate);
    if (*rate >= kUsualRate) return add("sampling rate", kGood, what);
    add("sampling rate", kPart,
        what + ": the kernel lowers it if samples take it too long, and never raises it again",
        fmt::format("sysctl kernel.perf_event_max_sample_rate={}", kUsualRate));
  }

  void check_kernel_symbols() {
    constexpr const char* kSubject = "kernel symbols";
    std::optional<std::string> symbols = text("/proc/kallsyms");
    if (!symbols || symbols->empty())
      return add(kSubject, kMissing, "there is no /proc/kallsyms (CONFIG_KALLSYMS)");
    constexpr std::string_view kHidden = "0000000000000000 ";
    bool is_hidden = symbols->starts_with(kHidden) &&
                     symbols->substr(symbols->rfind('\n') + 1).starts_with(kHidden);
    if (!is_hidden) return add(kSubject, kGood, "/proc/kallsyms has their addresses");
    add(kSubject, kMissing, "their addresses are hidden: kernel functions have no names",
        "sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
  }

  void check_kernel_code() {
    utsname machine{};
    if (::uname(&machine) != 0) return;
    ObjectFinder finder({});
    FoundObject image = finder.find_vmlinux(running_kernel_build_id(), machine.release);
    if (image.symbols) return add("kernel code and lines", kGood, "by " + image.symbols_path);
    std::string package = fmt::format("linux-image-{}", machine.release);
    bool is_debians = ::access(path("/var/lib/dpkg/info/" + package + ".list").c_str(), F_OK) == 0;
    add("kernel code and lines", kPart,
        fmt::format("there is no vmlinux of {} with debug information", machine.release),
        is_debians ? "apt install " + package + "-dbg"
                   : "install the kernel's debug information, or name its vmlinux: -k FILE");
  }

  [[nodiscard]] std::string tracefs() const {
    for (std::string_view place : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
      if (::access(path(std::string(place) + "/events").c_str(), F_OK) == 0) return path(place);
    return {};
  }

  void check_tracepoints() {
    std::string directory = tracefs();
    constexpr const char* kPlace = "/sys/kernel/tracing";
    bool is_closed = directory.empty() && ::access(path(kPlace).c_str(), F_OK) == 0 &&
                     ::access(path(kPlace).c_str(), X_OK) != 0;
    if (is_closed)
      return add("tracepoints", kMissing, "tracefs is for root only",
                 fmt::format("mount -o remount,mode=755 {}, or sudo", kPlace));
    if (directory.empty())
      return add("tracepoints", kMissing, "tracefs is not mounted",
                 fmt::format("mount -t tracefs nodev {}", kPlace));
    std::string events = directory + "/events/sched/sched_switch/id";
    if (::access(events.c_str(), R_OK) == 0)
      return add("tracepoints", kGood, "tracefs can be read");
    add("tracepoints", kMissing, "tracefs cannot be read by you",
        "mount -o remount,mode=755 " + directory);
  }

  void check_probes() {
    std::string directory = tracefs();
    if (directory.empty()) return;
    for (auto [subject, file, option] :
         {std::tuple("probes in programs", "/uprobe_events", "CONFIG_UPROBE_EVENTS"),
          std::tuple("probes in the kernel", "/kprobe_events", "CONFIG_KPROBE_EVENTS")}) {
      std::string name = directory + file;
      if (::access(name.c_str(), F_OK) != 0)
        add(subject, kMissing, fmt::format("the kernel was built without them ({})", option),
            "boot a kernel that has them");
      else if (::access(name.c_str(), W_OK) != 0)
        add(subject, kMissing, "only root may make them", "sudo");
      else
        add(subject, kGood, "can be made");
    }
  }

  void check_bpf() {
    bool has_types = ::access(path("/sys/kernel/btf/vmlinux").c_str(), R_OK) == 0;
    if (!has_types)
      return add("BPF", kMissing, "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)",
                 "boot a kernel that has it; --off-cpu, trace -s and lock -b need it");
    if (!is_root())
      return add("BPF", kPart, "BTF is there; programs need root, or CAP_BPF and CAP_PERFMON",
                 "sudo");
    if (seccomp_refuses_bpf(checks_.sys))
      return add("BPF", kMissing, "BTF is there, but bpf(2) is forbidden", seccomp_advice("bpf"));
    add("BPF", kGood, "BTF is there, and you may load programs");
  }

  void check_debuginfod() {
    if (!debuginfod_is_installed())
      return add("debuginfod", kPart, "its library is not installed: --debuginfod cannot be used",
                 "apt install libdebuginfod1");
    if (!checks_.debuginfod_urls.empty())
      return add("debuginfod", kGood, "servers: " + checks_.debuginfod_urls);
    add("debuginfod", kPart, "no servers are named: symbols come from this machine only",
        "export DEBUGINFOD_URLS=" + debuginfod_server(checks_.root));
  }

  const MachineChecks& checks_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> examine_machine(const MachineChecks& checks) {
  return MachineExaminer(checks).examine();
}

}  // namespace sonde::doctor
