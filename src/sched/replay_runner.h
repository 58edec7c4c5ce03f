// ReplayRunner: a plan carried out by threads of this machine, one for each task, as often as
// wanted. A thread uses the CPU for as long as its task did, waits and wakes others as the plan
// says, and bears the task's name.
//
// Tid 0 stands for the idle time of all CPUs: it lets that pass, and uses no CPU.
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

/// What reading the clock, and sleeping, cost on this machine; best of several tries.
struct ReplayOverheads {
  uint64_t run_ns = 0, sleep_ns = 0;
  // How long a run, or a sleep, of a millisecond takes.
  uint64_t run_test_ns = 0, sleep_test_ns = 0;
};
[[nodiscard]] ReplayOverheads measure_replay_overheads();

class ReplayRunner {
 public:
  /// Starts the threads; they wait. `plan` must outlive this. kFailed where the system refuses so
  /// many threads.
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
