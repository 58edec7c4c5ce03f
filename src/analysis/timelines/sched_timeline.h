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
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

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
  void add(const SchedSwitch& event);
  void add(const SchedWaking& event);
  /// Who a thread is: the last call wins.
  void name(uint32_t tid, std::string_view name);
  void process(uint32_t tid, uint32_t pid, std::string_view name);
  /// Of every thread that an event named.
  [[nodiscard]] std::vector<uint32_t> tids() const;

  /// How often a CPU was left by a thread other than the one that had come: events are missing.
  [[nodiscard]] uint64_t contradictions() const { return contradictions_; }
  /// Ends what is still going on, and sorts.
  [[nodiscard]] view::Timeline finish() &&;

 private:
  struct Task {
    bool is_known = false;
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
    uint64_t first_ns = 0, last_ns = 0;
    uint32_t current = 0;  // tid; 0: idle
  };

  uint32_t index_of(uint32_t tid);
  uint32_t cpu_index(uint32_t cpu);
  void note_time(uint64_t time_ns);
  void leave(const SchedSwitch& event, uint32_t cpu);
  void come(const SchedSwitch& event);
  void end_wait(uint32_t thread, uint64_t end_ns);
  void end_run(uint32_t thread, uint32_t cpu, uint64_t start_ns, uint64_t end_ns, bool is_cut);
  void finish_cpus();
  void finish_tasks();
  void sort();

  view::Timeline timeline_;
  std::vector<Task> tasks_;  // parallel to timeline_.threads
  std::vector<Cpu> cpus_;    // parallel to timeline_.cpus
  tsl::robin_map<uint32_t, uint32_t> by_tid_;
  tsl::robin_map<uint32_t, uint32_t> by_cpu_;
  uint64_t contradictions_ = 0;
};

}  // namespace sonde
