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

/// What the kernel lets who has no privilege measure, by the highest level of perf_event_paranoid
/// at which it does (kernel/events/core.c, perf_allow_cpu and its kind; 3 is Debian's).
struct Measured {
  std::string_view what;
  int level;
};

Measured measured(const abi::EventAttr& attr, const Target& target) {
  bool is_raw = attr.type == abi::kTypeTracepoint && attr.samples(abi::kSampleRaw);
  if (is_raw) return {"the fields of tracepoints", -1};
  if (target.has_cpu()) return {"whole CPUs", 0};
  if (!attr.exclude_kernel) return {"what the kernel does", 1};
  return {"anything", 2};
}

Error no_permission(const CaptureEvent& event, const Target& target, int paranoid) {
  const std::string& name = event.parsed.name;
  Measured wanted = measured(event.attr(), target);
  bool is_probe = event.parsed.pmu == "kprobe" || event.parsed.pmu == "uprobe";
  if (is_probe || paranoid <= wanted.level)
    return {ErrorCode::kPermission,
            fmt::format("{}: {} takes root or CAP_PERFMON: use sudo", name,
                        is_probe ? "a probe" : "what another user runs, or a policy guards,")};
  return {ErrorCode::kPermission,
          fmt::format("{}: measuring {} takes root or CAP_PERFMON while kernel.perf_event_paranoid "
                      "is {}: use sudo, or allow it: sysctl kernel.perf_event_paranoid={}",
                      name, wanted.what, paranoid, wanted.level)};
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
    return name + ": it cannot be sampled that precisely here: fewer p, or none";
  return "The " + name + " event is not supported.";
}

std::string invalid(const CaptureEvent& event, const Target& target) {
  const abi::EventAttr& attr = event.attr();
  if (attr.samples(abi::kSampleCodePageSize))
    return "--code-page-size: the kernel is older than Linux 5.11";
  if (attr.samples(abi::kSampleDataPageSize))
    return "--data-page-size: the kernel is older than Linux 5.11";
  if (attr.write_backward) return "--overwrite: the kernel is older than Linux 4.7";
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
  return "there are more events, CPUs and threads than file descriptors allowed: raise the limit "
         "(ulimit -n), or record fewer of them";
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
      return target.has_cpu() ? "the event cannot be opened on one of the CPUs: does it exist?"
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
    Error refused = no_permission(event, target, paranoid);
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
            fmt::format("rings of {} pages are more memory than this user may lock: a smaller -m, "
                        "sudo, or more: sysctl kernel.perf_event_mlock_kb (it is {})",
                        pages, sysctl_value("/proc/sys/kernel/perf_event_mlock_kb"))};
  return {ErrorCode::kFailed,
          fmt::format("failed to mmap {} pages: {}", pages, std::strerror(error))};
}

}  // namespace sonde
