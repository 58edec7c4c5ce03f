// EventOpener: opens events on kernels of any age and with any privilege. When the kernel refuses
// an attr, it is retried with a little less, in perf's order:
//
//   1. precise_ip one lower, if the highest was asked for               (:P)
//   2. a thread that has since ended is left out                        (ESRCH)
//   3. more file descriptors: RLIMIT_NOFILE is raised                   (EMFILE)
//   4. attr bits that older kernels lack, newest first                  (EINVAL)
//   5. cpu-clock in place of cycles, if there is no PMU                 (ENOENT …)
//   6. without kernel and hypervisor, if perf_event_paranoid forbids them (EACCES)
//
// What step 4 finds missing is remembered and not tried again.
//
// A thread that begins while events are being opened may get them from the thread that started it,
// or begin too early for that. So the threads of a process are listed again when all events are
// open; if there are others by then, everything is closed and opened once more, for them too.
//
// When only counting (OpenRules::counting), no other event is wanted in place of the one asked for:
// step 5 is skipped, and an event that the machine does not have is marked as unsupported and
// skipped. The tool's own times (duration_time) need no counter, and get one only where something
// else depends on it: a group that they lead, or the id by which a file of counts knows them.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "base/sys.h"
#include "capture/opening/capture_event.h"
#include "capture/opening/target.h"

namespace sonde {

/// Attr bits that the running kernel turned out to lack.
struct MissingFeatures {
  bool inherit_read = false, read_lost = false, weight_struct = false, branch_hw_index = false,
       bpf_event = false, ksymbol = false, clockid_wrong = false, clockid = false, cloexec = false,
       mmap2 = false, exclude_guest = false, sample_id_all = false, lbr_flags = false,
       group_read = false;
};

struct OpenRules {
  bool counting = false;
  bool needs_ids = false;  // counts go to a file, which knows counters by the kernel's ids
};

class EventOpener {
 public:
  struct Listener {
    std::function<void(std::string_view)> note = {};   // what a user should know: fallbacks
    std::function<void(std::string_view)> trace = {};  // -vv: attrs, calls and their outcomes
    /// A thread of -p, -t or -u ended before it could be recorded.
    std::function<void(pid_t)> thread_vanished = {};
    /// So many threads began so late that they may not be recorded.
    std::function<void(size_t)> threads_missed = {};
  };

  EventOpener(Sys& sys, Target& target, Listener listener, OpenRules rules = {})
      : sys_(sys), target_(target), listener_(std::move(listener)), rules_(rules) {}

  /// Opens all events in place: fills `opened`; attrs end up as the kernel accepted them. Threads
  /// that are gone are removed from the target, those that have begun are added. The error text is
  /// perf's: what was refused, why, and the setting that would allow it.
  Result<> open(std::vector<CaptureEvent>& events);

  [[nodiscard]] const MissingFeatures& missing() const { return missing_; }

  /// Whether the opener gave up kernel mode for some event.
  [[nodiscard]] bool kernel_excluded() const { return kernel_excluded_; }

 private:
  struct Refusal {
    int error;
    size_t cpu_index, thread_index;
  };
  Result<> open_all(std::vector<CaptureEvent>& events);
  std::vector<ThreadEntry> begun_threads();
  Result<> open_event(std::vector<CaptureEvent>& events, size_t index);
  std::expected<void, Refusal> open_everywhere(std::vector<CaptureEvent>& events, size_t index);
  bool ask_for_less(std::vector<CaptureEvent>& events, size_t index, const Refusal& refusal,
                    size_t group_size);
  void leave_out(std::vector<CaptureEvent>& events, size_t thread_index);
  bool lower_precision(CaptureEvent& event);
  bool drop_missing_feature(const CaptureEvent& event, bool in_group);
  bool fall_back(CaptureEvent& event, int error);
  [[nodiscard]] bool may_pass_over(bool leads_others, int error) const;
  bool break_weak_group(std::vector<CaptureEvent>& events, size_t index, int error);
  /// The members become separate events.
  void dissolve_group(std::vector<CaptureEvent>& events, size_t leader);
  [[nodiscard]] abi::EventAttr without_missing(const abi::EventAttr& attr) const;
  void close_all(CaptureEvent& event);
  void trace_attr(const abi::EventAttr& attr);

  Sys& sys_;
  Target& target_;
  Listener listener_;
  OpenRules rules_;
  MissingFeatures missing_;
  std::unordered_set<pid_t> seen_threads_;
  bool limit_raised_ = false;
  bool kernel_excluded_ = false;
  unsigned precise_asked_ = 0;
  std::string fall_back_note_;  // told when what was opened instead is open: it may be refused, too
};

/// The CPUs that `event` is opened on: those of its cpu= term, else those of the target or, if the
/// target has none, those of the event's PMU.
[[nodiscard]] const std::vector<int>& cpus_of(const CaptureEvent& event, const Target& target);

/// The value of kernel.perf_event_paranoid; 2 if it cannot be read.
int perf_event_paranoid();

}  // namespace sonde
