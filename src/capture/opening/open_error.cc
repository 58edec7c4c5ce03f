#include "capture/opening/open_error.h"

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/process/seccomp.h"
#include "base/text.h"
#include "event/pmu/pmu.h"

namespace sonde {
namespace {

std::string sysctl_value(const std::string& path) {
  Result<std::string> text = read_file(path);
  return text ? std::string(trim(*text)) : std::string("unknown");
}

Error no_permission(const CaptureEvent& event, int error, int paranoid) {
  std::string text;
  if (error == EPERM)
    text = fmt::format("No permission to enable {} event.\n\n", event.parsed.name);
  text += fmt::format(
      "Access to performance monitoring and observability operations is limited.\n"
      "Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open\n"
      "access to performance monitoring and observability operations for processes\n"
      "without CAP_PERFMON, CAP_SYS_PTRACE or CAP_SYS_ADMIN Linux capability.\n"
      "More information can be found at 'Perf events and tool security' document:\n"
      "https://www.kernel.org/doc/html/latest/admin-guide/perf-security.html\n"
      "perf_event_paranoid setting is {}:\n"
      "  -1: Allow use of (almost) all events by all users\n"
      "      Ignore mlock limit after perf_event_mlock_kb without CAP_IPC_LOCK\n"
      ">= 0: Disallow raw and ftrace function tracepoint access\n"
      ">= 1: Disallow CPU event access\n"
      ">= 2: Disallow kernel profiling\n"
      "To make the adjusted perf_event_paranoid setting permanent preserve it\n"
      "in /etc/sysctl.conf (e.g. kernel.perf_event_paranoid = <setting>)",
      paranoid);
  return {ErrorCode::kPermission, std::move(text)};
}

std::string not_supported(const CaptureEvent& event) {
  const abi::EventAttr& attr = event.attr();
  const std::string& name = event.parsed.name;
  if (attr.aux_output) return name + ": PMU Hardware doesn't support 'aux_output' feature";
  if (attr.aux_action != 0) return name + ": PMU Hardware doesn't support 'aux_action' feature";
  if (attr.samples(abi::kSampleBranchStack))
    return name + ": PMU Hardware or event type doesn't support branch stack sampling.";
  if (attr.sample_period != 0)
    return name + ": PMU Hardware doesn't support sampling/overflow-interrupts. Try 'perf stat'";
  if (attr.precise_ip != 0)
    return "'precise' request may not be supported. Try removing 'p' modifier.";
  return "The " + name + " event is not supported.";
}

std::string invalid(const CaptureEvent& event, const Target& target) {
  const abi::EventAttr& attr = event.attr();
  if (attr.samples(abi::kSampleCodePageSize))
    return "Asking for the code page size isn't supported by this kernel.";
  if (attr.samples(abi::kSampleDataPageSize))
    return "Asking for the data page size isn't supported by this kernel.";
  if (attr.write_backward) return "Reading from overwrite event is not supported by this kernel.";
  if (attr.use_clockid)
    return fmt::format("clockid feature not supported, or wrong clockid ({}).", attr.clockid);
  if (attr.aux_output) return "The 'aux_output' feature is not supported";
  if (!target.has_cpu())
    return fmt::format("Invalid event ({}) in per-thread mode, enable system wide with '-a'.",
                       event.parsed.name);
  return {};
}

std::string no_such(const CaptureEvent& event) {
  if (event.attr().type == kSteppingPmuType)
    return fmt::format("{} is no event of the kernel: only record has it.", event.parsed.name);
  return "The " + event.parsed.name + " event is not supported.";
}

std::string too_many() {
  return "Too many events are opened.\n"
         "Probably the maximum number of open file descriptors has been reached.\n"
         "Hint: Try again after reducing the number of events.\n"
         "Hint: Try increasing the limit with 'ulimit -n <limit>'";
}

std::string out_of_memory(const CaptureEvent& event) {
  if (!event.attr().samples(abi::kSampleCallchain)) return {};
  return fmt::format(
      "Not enough memory to setup event with callchain.\n"
      "Hint: Try tweaking /proc/sys/kernel/perf_event_max_stack\n"
      "Hint: Current value: {}",
      sysctl_value("/proc/sys/kernel/perf_event_max_stack"));
}

std::string words_for(const CaptureEvent& event, const Target& target, int error) {
  if ((error == EINVAL || error == ENODEV) && !event.parsed.terms.cpus.empty())
    return fmt::format("{}: no such CPU, or the event cannot be opened there.", event.parsed.name);
  switch (error) {
    case ENOENT:
      return no_such(event);
    case EMFILE:
      return too_many();
    case ENOMEM:
      return out_of_memory(event);
    case EOVERFLOW:
      return fmt::format(
          "{}: {} frames exceed the kernel's limit.\n"
          "Hint: Try tweaking /proc/sys/kernel/perf_event_max_stack\n"
          "Hint: Current value: {}",
          event.parsed.name, event.attr().sample_max_stack,
          sysctl_value("/proc/sys/kernel/perf_event_max_stack"));
    case ENODEV:
      return target.has_cpu() ? "No such device - did you specify an out-of-range profile CPU?"
                              : "";
    case ENOSPC:
      return event.attr().type == abi::kTypeBreakpoint
                 ? fmt::format(
                       "{}: no free hardware breakpoint: the CPU has only a few (4 on x86).",
                       event.parsed.name)
                 : "";
    case EOPNOTSUPP:
      return not_supported(event);
    case EBUSY:
      return "The PMU counters are busy/taken by another profiler.";
    case EINVAL:
      return invalid(event, target);
    default:
      return {};
  }
}

ErrorCode code_for(int error) {
  switch (error) {
    case ENOENT:
    case EOPNOTSUPP:
    case EINVAL:
      return ErrorCode::kUnsupported;
    case ESRCH:
      return ErrorCode::kNotFound;
    default:
      return ErrorCode::kFailed;
  }
}

}  // namespace

Error explain_open_failure(const CaptureEvent& event, const Target& target, int error, int paranoid,
                           bool by_seccomp) {
  if (by_seccomp)
    return {ErrorCode::kPermission,
            fmt::format("Error:\nNo permission to open the {} event: {}", event.parsed.name,
                        seccomp_advice("perf_event_open"))};
  if (error == EPERM || error == EACCES) {
    Error refused = no_permission(event, error, paranoid);
    refused.message.insert(0, "Error:\n");
    return refused;
  }
  std::string words = words_for(event, target, error);
  if (words.empty())
    words = fmt::format(
        "The sys_perf_event_open() syscall returned with {} ({}) for event ({}).\n"
        "\"dmesg | grep -i perf\" may provide additional information.",
        error, std::strerror(error), event.parsed.name);
  return {code_for(error), "Error:\n" + words};
}

Error explain_map_failure(size_t pages, int error) {
  if (error == EPERM)
    return {ErrorCode::kPermission,
            fmt::format("Permission error mapping pages.\n"
                        "Consider increasing /proc/sys/kernel/perf_event_mlock_kb,\n"
                        "or try again with a smaller value of -m/--mmap_pages.\n"
                        "(perf_event_mlock_kb is {}, asked for {} pages per ring)",
                        sysctl_value("/proc/sys/kernel/perf_event_mlock_kb"), pages)};
  return {ErrorCode::kFailed,
          fmt::format("failed to mmap {} pages: {}", pages, std::strerror(error))};
}

}  // namespace sonde
