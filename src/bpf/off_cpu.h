// OffCpu: where threads wait, measured by BPF programs at each context switch: how long they were
// voluntarily off their CPUs, and in which calls. Short waits are added up per thread and call
// chain; long ones are reported individually, with their times.
//
//   OffCpu waits = TRY(OffCpu::open({.tasks = {.all = true}}));
//   waits.set(FollowPhase::kOn);
//   for (const OffCpu::Wait& wait : waits.long_waits()) …     from time to time
//   waits.set(FollowPhase::kOver);
//   for (const OffCpu::Wait& wait : TRY(waits.rest())) …
//
// Kernel threads are left out, and so are preempted threads. The programs stay attached for the
// lifetime of the object.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "bpf/followed_tasks.h"
#include "bpf/measured_waits.h"

namespace sonde {

class OffCpu {
 public:
  struct Options {
    FollowedTasks tasks = {};
    uint64_t long_ns = 0;      // waits of at least this length are reported individually
    bool with_wakers = false;  // also record Wait::waker
  };
  enum class State : uint8_t { kSleeps, kBlocked, kWaitsForIo };
  /// What was running when a wait ended; if an interrupt ended it, that shows in the stack.
  struct Waker {
    uint32_t pid = 0, tid = 0;
    std::string comm;
    bool is_followed = false;
    std::vector<uint64_t> kernel_stack, user_stack;  // innermost first, with the tracing's frames
  };
  struct Wait {
    uint32_t pid = 0, tid = 0;
    State state = State::kSleeps;
    uint64_t count = 1;  // waits that were added up
    uint64_t total_ns = 0;
    uint64_t runnable_ns = 0;  // the part of it after the wakeup, waiting for a CPU
    uint64_t end_ns = 0;       // CLOCK_MONOTONIC; 0 if several were added up
    std::vector<uint64_t> kernel_stack, user_stack;  // innermost first, with the tracing's frames
    std::optional<Waker> waker;  // nothing if not asked for, or if still waiting
  };

  /// Errors say what the kernel refused, including its verifier's last words.
  static Result<OffCpu> open(const Options& options);
  OffCpu(OffCpu&&) noexcept;
  OffCpu& operator=(OffCpu&&) noexcept;
  ~OffCpu();

  void set(FollowPhase phase);
  /// Those that have ended since the last call.
  std::vector<Wait> long_waits();
  /// To be called once, at the end: the sums, and waits still in progress (unless it was off).
  Result<std::vector<Wait>> rest();
  [[nodiscard]] LostWaits lost() const;

 private:
  struct Programs;
  explicit OffCpu(std::unique_ptr<Programs> programs);
  std::unique_ptr<Programs> programs_;
};

}  // namespace sonde
