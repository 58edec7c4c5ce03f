// A timeline from the scheduler's events: what each thread and each CPU did, and who woke whom.
//
// It needs sched:sched_switch, which says who left a CPU (and in which state) and who came. If the
// recording also has sched_waking, sched_wakeup or sched_wakeup_new, a wait is split at the wakeup:
// before it the thread was blocked, after it the thread waited for a CPU.
//
//   waking ────────────────┐
//   ▆▆▆▆▆▆ switch ─────────┴░░░░░ switch ▆▆▆▆▆▆
//   running        blocked  runnable     running
//
// A run of a thread lasts from the previous switch on that CPU to the switch that ends it, which is
// how `perf sched timehist` counts run time. What begins before the first switch of a CPU, or ends
// after the last, is shown as cut and not counted.
//
// Nothing is made up where events are missing. Each switch must name as leaving the thread that
// came with the one before on its CPU, and that thread must not have been seen elsewhere since.
// Otherwise a switch in between is missing:
//
//   CPU 0   switch to A ............. switch from B        ............. is unknown on CPU 0, and
//           ▆ A ▆▆▆▆▆▆? ? ? ? ? ?▆▆▆ B ▆                   of A and B
//
// A kernel may miss a single switch. Where it says that it dropped events because a ring was full,
// there may be many, and every thread that waited then may have run: its wait is known up to there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "analysis/timelines/switch_coverage.h"
#include "view/timeline.h"

namespace sonde {

/// One scheduler event, as passed to the builder. Events come in time order.
struct SchedSwitch {
  uint64_t time_ns = 0;
  uint32_t cpu = 0;
  uint32_t prev_tid = 0;            // 0: the CPU was idle
  uint64_t prev_state = 0;          // as in the tracepoint; 0: it was preempted
  uint32_t next_tid = 0;            // 0: the CPU becomes idle
  uint32_t stack = view::kNoIndex;  // of the thread that leaves
};
struct SchedWaking {
  uint64_t time_ns = 0;
  uint32_t waker_tid = 0;  // 0: an interrupt on an idle CPU
  uint32_t woken_tid = 0;
  uint32_t stack = view::kNoIndex;  // of the waker
};

/// What a thread that left its CPU waits for; runnable if it was only preempted, ended if it
/// exited. `prev_state`: of sched_switch (TASK_* of include/linux/sched.h; from bit 8 on, kernels
/// differ and none of the bits says that a thread waits).
enum class LeftAs : uint8_t { kRunnable, kSleeping, kUninterruptible, kStopped, kEnded };
[[nodiscard]] LeftAs left_as(uint64_t prev_state);

class TimelineBuilder {
 public:
  explicit TimelineBuilder(const SwitchCoverage& coverage = {
                               .kind = SwitchCoverage::Kind::kEveryCpu});

  void add(const SchedSwitch& event);
  void add(const SchedWaking& event);
  /// Who a thread is: the last call wins.
  void name(uint32_t tid, std::string_view name);
  void process(uint32_t tid, uint32_t pid, std::string_view name);
  /// Of every thread that an event named.
  [[nodiscard]] std::vector<uint32_t> tids() const;

  /// Switches with another before them on their CPU, and how many of them do not follow from it.
  [[nodiscard]] uint64_t pairs() const { return pairs_; }
  [[nodiscard]] uint64_t contradictions() const { return contradictions_; }
  /// Ends what is still going on, and sorts.
  [[nodiscard]] view::Timeline finish() &&;

 private:
  struct Task {
    bool is_known = false;
    bool was_switched = false;  // to or from a CPU, at any time
    view::TaskState state = view::TaskState::kRunning;
    uint64_t since_ns = 0;
    uint32_t cpu = view::kNoIndex;
    uint32_t stack = view::kNoIndex;
    // The thread was woken before it had left its CPU.
    bool woken_early = false;
    uint32_t waker = view::kNoIndex;
    uint32_t waker_stack = view::kNoIndex;
  };
  struct Cpu {
    bool seen = false;
    bool has_pair = false;  // two switches that follow from each other
    uint64_t first_ns = 0, last_ns = 0;
    uint32_t current = 0;                // tid; 0: idle
    uint32_t at_start = view::kNoIndex;  // the thread that ran there from the beginning
    bool is_start_known = true;
    uint64_t unknown_ns = 0;  // between its first and its last switch
  };

  uint32_t index_of(uint32_t tid);
  uint32_t cpu_index(uint32_t cpu);
  void note_time(uint64_t time_ns);
  [[nodiscard]] bool has_loss(uint32_t cpu, uint64_t from_ns, uint64_t to_ns) const;
  [[nodiscard]] bool runs_here(uint32_t tid, uint32_t cpu) const;
  [[nodiscard]] bool are_ends_known(const Cpu& at) const;
  bool follows(const SchedSwitch& event, uint32_t cpu);
  void leave(const SchedSwitch& event, uint32_t cpu, bool is_run_known);
  void leave_first(uint32_t thread, Cpu& at);
  void come(const SchedSwitch& event);
  void note_unknown(uint32_t cpu, uint64_t start_ns, uint64_t end_ns);
  void forget(uint32_t tid, uint32_t cpu);
  void end_wait(uint32_t thread, uint64_t end_ns, bool is_cut);
  void add_run(uint32_t thread, uint32_t cpu, view::TimelineSlice slice, bool at_front);
  void finish_start(uint32_t cpu);
  void finish_end(uint32_t cpu);
  void finish_tasks();
  void cut_waits_at_losses();
  void add_up();
  void sort();

  SwitchCoverage::Kind coverage_;
  tsl::robin_map<uint32_t, std::vector<uint64_t>> losses_;  // times by CPU, ascending
  view::Timeline timeline_;
  std::vector<Task> tasks_;  // parallel to timeline_.threads
  std::vector<Cpu> cpus_;    // parallel to timeline_.cpus
  tsl::robin_map<uint32_t, uint32_t> by_tid_;
  tsl::robin_map<uint32_t, uint32_t> by_cpu_;
  uint64_t pairs_ = 0;
  uint64_t contradictions_ = 0;
};

}  // namespace sonde
