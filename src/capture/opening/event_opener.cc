#include "capture/opening/event_opener.h"

#include <linux/perf_event.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/expansion_allowance.h"
#include "base/file.h"
#include "base/process/seccomp.h"
#include "base/text.h"
#include "capture/opening/open_error.h"
#include "event/pmu/attr_text.h"
#include "event/pmu/event_name.h"

namespace sonde {
namespace {

/// The attr size that any running kernel should accept: perf 6.1's. Our fields beyond it are only
/// sent if one of them is set.
constexpr uint32_t kCommonAttrSize = 128;

/// A process that starts threads faster than events are opened would never be caught up with.
constexpr int kAttempts = 5;

bool raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace

int perf_event_paranoid() {
  Result<std::string> text = read_file("/proc/sys/kernel/perf_event_paranoid");
  if (!text) return 2;
  std::string_view word = trim(*text);
  bool negative = word.starts_with('-');
  std::optional<uint64_t> number = parse_number(word.substr(negative ? 1 : 0));
  if (!number) return 2;
  return negative ? -static_cast<int>(*number) : static_cast<int>(*number);
}

Result<> EventOpener::open(std::vector<CaptureEvent>& events) {
  ExpansionAllowance::of_process().become_recorder();
  for (const ThreadEntry& thread : target_.threads) seen_threads_.insert(thread.tid);
  for (int attempt = 1;; ++attempt) {
    TRY(open_all(events));
    std::vector<ThreadEntry> begun = begun_threads();
    if (begun.empty()) return {};
    if (attempt == kAttempts) {
      if (listener_.threads_missed) listener_.threads_missed(begun.size());
      return {};
    }
    for (CaptureEvent& event : events) close_all(event);
    std::ranges::move(begun, std::back_inserter(target_.threads));
  }
}

Result<> EventOpener::open_all(std::vector<CaptureEvent>& events) {
  for (size_t i = 0; i < events.size(); ++i)
    if (!events[i].is_unsupported) TRY(open_event(events, i));
  return {};
}

std::vector<ThreadEntry> EventOpener::begun_threads() {
  std::vector<ThreadEntry> threads = threads_now(target_);
  std::erase_if(threads, [this](const ThreadEntry& thread) {
    return !seen_threads_.insert(thread.tid).second;
  });
  return threads;
}

Result<> EventOpener::open_event(std::vector<CaptureEvent>& events, size_t index) {
  CaptureEvent& event = events[index];
  if (event.is_in_family || event.by_task_counters) return {};
  auto members = static_cast<size_t>(std::ranges::count_if(
      events, [&](const CaptureEvent& e) { return e.parsed.leader == event.parsed.leader; }));
  bool is_leader = event.parsed.leader == index && members > 1;
  bool is_own_time = event.parsed.tool != ToolEvent::kNone && rules_.counting;
  if (is_own_time && !is_leader && !rules_.needs_ids) return {};
  const MissingFeatures known_missing = missing_;
  precise_asked_ = static_cast<unsigned>(event.attr().precise_ip);
  while (true) {
    std::expected<void, Refusal> opened = open_everywhere(events, index);
    if (opened) {
      if (!fall_back_note_.empty() && listener_.note)
        listener_.note(std::exchange(fall_back_note_, {}));
      return {};
    }
    close_all(event);
    const Refusal& refusal = opened.error();
    if (ask_for_less(events, index, refusal, members)) continue;
    if (break_weak_group(events, index, refusal.error)) return open_event(events, index);
    bool leads_others = is_leader;
    if (leads_others && event.parsed.weak_group && may_pass_over(false, refusal.error)) {
      dissolve_group(events, index);
      leads_others = false;
    }
    if (may_pass_over(leads_others, refusal.error)) {
      // Whatever was left out meanwhile was not what the kernel objected to.
      missing_ = known_missing;
      event.is_unsupported = true;
      if (listener_.note)
        listener_.note(fmt::format("{} event is not supported by the kernel.", event.parsed.name));
      return {};
    }
    if (fall_back(event, refusal.error)) continue;
    bool is_forbidden =
        refusal.error == EPERM || refusal.error == EACCES || refusal.error == ENOSYS;
    return std::unexpected(explain_open_failure(event, target_, refusal.error,
                                                perf_event_paranoid(),
                                                is_forbidden && seccomp_refuses_events(sys_)));
  }
}

const std::vector<int>& cpus_of(const CaptureEvent& event, const Target& target) {
  bool by_term = !event.parsed.terms.cpus.empty();
  bool by_pmu = !event.parsed.cpus.empty() && !target.per_thread;
  return by_term || by_pmu ? event.parsed.cpus : target.cpus;
}

std::expected<void, EventOpener::Refusal> EventOpener::open_everywhere(
    std::vector<CaptureEvent>& events, size_t index) {
  CaptureEvent& event = events[index];
  const CaptureEvent& leader = events[event.parsed.leader];
  bool leads = &leader == &event;
  abi::EventAttr attr = without_missing(event.attr());
  trace_attr(attr);
  unsigned long flags = missing_.cloexec ? 0 : PERF_FLAG_FD_CLOEXEC;
  const std::vector<int>& cpus = cpus_of(event, target_);
  const std::vector<ThreadEntry> whole_cpus{{-1, {}}};
  const std::vector<ThreadEntry>& threads = event.is_system_wide ? whole_cpus : target_.threads;
  size_t slot = 0;
  for (size_t c = 0; c < cpus.size(); ++c)
    for (size_t t = 0; t < threads.size(); ++t, ++slot) {
      pid_t tid = threads[t].tid;
      if (event.cgroup_fd >= 0) {
        tid = event.cgroup_fd;
        flags |= PERF_FLAG_PID_CGROUP;
      }
      int cpu = cpus[c];
      int group = leads || slot >= leader.opened.size() ? -1 : leader.opened[slot].fd;
      SysResult<int> fd =
          sys_.perf_event_open(reinterpret_cast<perf_event_attr*>(&attr), tid, cpu, group, flags);
      if (listener_.trace)
        listener_.trace(
            fmt::format("sys_perf_event_open: pid {}  cpu {}  group_fd {}  flags {}{}", tid, cpu,
                        group, flags == 0 ? "0" : fmt::format("{:#x}", flags),
                        fd ? fmt::format(" = {}", *fd)
                           : fmt::format("\nsys_perf_event_open failed, error -{}", fd.error())));
      if (!fd) return std::unexpected(Refusal{fd.error(), c, t});
      event.opened.push_back({.fd = *fd, .cpu = cpu, .tid = tid});
    }
  event.attr() = attr;
  return {};
}

bool EventOpener::ask_for_less(std::vector<CaptureEvent>& events, size_t index,
                               const Refusal& refusal, size_t group_size) {
  CaptureEvent& event = events[index];
  if (lower_precision(event)) return true;
  bool first = refusal.cpu_index == 0 && refusal.thread_index == 0;
  if (refusal.error == ESRCH && target_.kind == Target::Kind::kTasks &&
      target_.threads.size() > 1) {
    leave_out(events, refusal.thread_index);
    return true;
  }
  if (refusal.error == EMFILE && !limit_raised_) {
    limit_raised_ = true;
    return raise_descriptor_limit();
  }
  if (refusal.error != EINVAL || !first) return false;
  return drop_missing_feature(event, group_size > 1);
}

void EventOpener::leave_out(std::vector<CaptureEvent>& events, size_t thread_index) {
  auto gone = target_.threads.begin() + static_cast<std::ptrdiff_t>(thread_index);
  pid_t tid = gone->tid;
  for (CaptureEvent& event : events)
    std::erase_if(event.opened, [&](const OpenedEvent& opened) {
      if (opened.tid != tid) return false;
      (void)sys_.close(opened.fd);
      return true;
    });
  target_.threads.erase(gone);
  if (listener_.thread_vanished) listener_.thread_vanished(tid);
}

bool EventOpener::lower_precision(CaptureEvent& event) {
  if (!event.parsed.precise_max || event.attr().precise_ip == 0) return false;
  unsigned lower = static_cast<unsigned>(event.attr().precise_ip) - 1;
  event.attr().precise_ip = lower & 3;
  if (listener_.trace) listener_.trace(fmt::format("decreasing precise_ip by one ({})", lower));
  return true;
}

bool EventOpener::drop_missing_feature(const CaptureEvent& event, bool in_group) {
  const abi::EventAttr& attr = event.attr();
  auto drop = [&](bool& missing, bool asked, std::string_view what) {
    if (missing || !asked) return false;
    missing = true;
    if (listener_.trace) listener_.trace(fmt::format("switching off {}", what));
    return true;
  };
  // Kernels gained features in this order, so the newest is the likeliest to be missing. If the
  // user asked for one by name, its absence is an error and nothing more is tried.
  // Linux 6.13: before, a thread's samples with values were those of the first thread alone.
  if (drop(missing_.inherit_read, attr.inherit && attr.samples(abi::kSampleRead),
           "inherit sample read"))
    return true;
  if (drop(missing_.read_lost, (attr.read_format & abi::kFormatLost) != 0,
           "PERF_FORMAT_LOST support"))
    return true;
  if (drop(missing_.weight_struct, attr.samples(abi::kSampleWeightStruct), "weight struct support"))
    return true;
  if (attr.samples(abi::kSampleCodePageSize | abi::kSampleDataPageSize) || attr.cgroup)
    return false;
  if (drop(missing_.branch_hw_index, (attr.branch_sample_type & abi::kBranchHwIndex) != 0,
           "branch HW index support"))
    return true;
  if (attr.aux_output) return false;
  if (drop(missing_.bpf_event, attr.bpf_event, "bpf_event")) return true;
  if (drop(missing_.ksymbol, attr.ksymbol, "ksymbol")) return true;
  if (attr.write_backward) return false;
  if (drop(missing_.clockid_wrong, attr.use_clockid, "clockid")) return true;
  if (drop(missing_.clockid, attr.use_clockid, "use_clockid")) return true;
  if (drop(missing_.cloexec, true, "cloexec flag")) return true;
  if (drop(missing_.mmap2, attr.mmap2, "mmap2")) return true;
  if (drop(missing_.exclude_guest, attr.exclude_guest || attr.exclude_host,
           "exclude_guest, exclude_host"))
    return true;
  if (drop(missing_.sample_id_all, true, "sample_id_all")) return true;
  if (drop(missing_.lbr_flags,
           (attr.branch_sample_type & (abi::kBranchNoCycles | abi::kBranchNoFlags)) != 0,
           "branch sample no (cycles/flags)"))
    return true;
  bool reads_group = attr.samples(abi::kSampleRead) || (attr.read_format & abi::kFormatGroup) != 0;
  return drop(missing_.group_read, in_group && attr.inherit && reads_group, "group read");
}

abi::EventAttr EventOpener::without_missing(const abi::EventAttr& wanted) const {
  abi::EventAttr attr = wanted;
  bool needs_newer = attr.sig_data != 0 || attr.config3 != 0;
  attr.size = needs_newer ? abi::kAttrSizeVer8 : kCommonAttrSize;
  if (missing_.inherit_read && attr.samples(abi::kSampleRead)) attr.inherit = 0;
  if (missing_.read_lost) attr.read_format &= ~uint64_t{abi::kFormatLost};
  if (missing_.weight_struct && attr.samples(abi::kSampleWeightStruct))
    attr.sample_type =
        (attr.sample_type & ~uint64_t{abi::kSampleWeightStruct}) | abi::kSampleWeight;
  if (missing_.branch_hw_index) attr.branch_sample_type &= ~uint64_t{abi::kBranchHwIndex};
  if (missing_.bpf_event) attr.bpf_event = 0;
  if (missing_.ksymbol) attr.ksymbol = 0;
  if (missing_.clockid_wrong && attr.use_clockid) attr.clockid = 1;  // CLOCK_MONOTONIC
  if (missing_.clockid) attr.use_clockid = 0, attr.clockid = 0;
  if (missing_.mmap2) attr.mmap2 = 0;
  if (missing_.exclude_guest) attr.exclude_guest = attr.exclude_host = 0;
  if (missing_.sample_id_all) attr.sample_id_all = 0;
  if (missing_.lbr_flags)
    attr.branch_sample_type &= ~uint64_t{abi::kBranchNoFlags | abi::kBranchNoCycles};
  if (missing_.group_read && attr.inherit)
    attr.read_format &= ~uint64_t{abi::kFormatGroup | abi::kFormatId};
  return attr;
}

bool EventOpener::may_pass_over(bool leads_others, int error) const {
  bool absent = error == EINVAL || error == ENOSYS || error == ENOENT || error == EOPNOTSUPP ||
                error == ENXIO;
  return rules_.counting && absent && !leads_others;
}

bool EventOpener::fall_back(CaptureEvent& event, int error) {
  abi::EventAttr& attr = event.attr();
  bool no_pmu = !rules_.counting && (error == ENOENT || error == ENXIO || error == ENODEV);
  if (no_pmu && attr.type == abi::kTypeHardware && attr.config == abi::kHwCpuCycles) {
    attr.type = abi::kTypeSoftware;
    attr.config = abi::kSwCpuClock;
    attr.precise_ip = precise_asked_ & 3;
    fall_back_note_ =
        "there are no hardware counters here: the clock of the CPU (cpu-clock) is recorded in "
        "place of cycles";
    if (!event.parsed.name_given) event.parsed.name = event_name(attr);
    return true;
  }
  int paranoid = error == EACCES ? perf_event_paranoid() : 0;
  if (error != EACCES || attr.exclude_kernel || paranoid <= 1) return false;
  // Excluding user mode means wanting the kernel only: nothing would remain.
  if (attr.exclude_user) return false;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  kernel_excluded_ = true;
  // "cs" becomes "cs:u"; "cs/max-stack=5/" and "cs:p" get the letter only.
  std::string& name = event.parsed.name;
  size_t modifiers_from = attr.type == abi::kTypeTracepoint ? name.find(':') + 1 : 0;
  bool has_modifiers = name.find(':', modifiers_from) != std::string::npos || name.ends_with('/');
  if (!event.parsed.name_given) name += has_modifiers ? "u" : ":u";
  if (listener_.trace)
    listener_.trace(
        fmt::format("kernel.perf_event_paranoid={}, trying to fall back to excluding kernel and "
                    "hypervisor  samples",
                    paranoid));
  return true;
}

bool EventOpener::break_weak_group(std::vector<CaptureEvent>& events, size_t index, int error) {
  uint32_t leader = events[index].parsed.leader;
  if ((error != EINVAL && error != EBADF) || leader == index || !events[leader].parsed.weak_group)
    return false;
  if (listener_.note)
    listener_.note(fmt::format("Weak group for {} failed: its events are opened individually",
                               events[leader].parsed.name));
  dissolve_group(events, leader);
  for (size_t i = leader; i < index; ++i)
    if (events[i].opened.empty() && !open_event(events, i)) return false;
  return true;
}

void EventOpener::dissolve_group(std::vector<CaptureEvent>& events, size_t leader) {
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].parsed.leader != leader) continue;
    close_all(events[i]);
    events[i].parsed.leader = static_cast<uint32_t>(i);
    events[i].attr().disabled = events[leader].attr().disabled;
    events[i].attr().enable_on_exec = events[leader].attr().enable_on_exec;
  }
}

void EventOpener::close_all(CaptureEvent& event) {
  for (const OpenedEvent& opened : event.opened) (void)sys_.close(opened.fd);
  event.opened.clear();
}

void EventOpener::trace_attr(const abi::EventAttr& attr) {
  if (!listener_.trace) return;
  std::string block = attr_block(attr);
  if (block.ends_with('\n')) block.pop_back();
  listener_.trace(block);
}

}  // namespace sonde
