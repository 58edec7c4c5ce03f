// ReplayRunner: executes a plan with threads of this machine, one per task, any number of times. A
// thread uses the CPU for as long as its task did, waits and wakes others as planned, and has the
// task's name.
//
// Tid 0 stands for the idle time of all CPUs: it lets that time pass without using a CPU.
#pragma once

#include <cstdint>
#include <memory>

#include "base/error.h"
#include "sched/replay_plan.h"

namespace sonde {

struct ReplayRound {
  uint64_t wall_ns = 0;
  uint64_t cpu_ns = 0;  // of all threads
};

/// The cost of reading the clock, and of sleeping, on this machine; best of several tries.
struct ReplayOverheads {
  uint64_t run_ns = 0, sleep_ns = 0;
  // How long a run, or a sleep, of one millisecond takes.
  uint64_t run_test_ns = 0, sleep_test_ns = 0;
};
[[nodiscard]] ReplayOverheads measure_replay_overheads();

class ReplayRunner {
 public:
  /// Starts the threads, which then wait. `plan` must outlive this. Fails with kFailed if the
  /// system refuses that many threads.
  static Result<ReplayRunner> start(const ReplayPlan& plan, const ReplayOverheads& overheads);
  ReplayRunner(ReplayRunner&&) noexcept;
  ReplayRunner& operator=(ReplayRunner&&) noexcept;
  ~ReplayRunner();

  ReplayRound run();

 private:
  class Crew;
  explicit ReplayRunner(std::unique_ptr<Crew> crew);
  std::unique_ptr<Crew> crew_;
};

}  // namespace sonde
