// OffCpu: where threads wait, measured by BPF programs at each switch: how long they were off their
// CPUs of their own will, and by which calls. Short waits are added up per thread and call chain;
// long ones come one by one, with their times.
//
//   OffCpu waits = TRY(OffCpu::open({.tasks = {.all = true}}));
//   waits.set(FollowPhase::kOn);
//   for (const OffCpu::Wait& wait : waits.long_waits()) …     now and then
//   waits.set(FollowPhase::kOver);
//   for (const OffCpu::Wait& wait : TRY(waits.rest())) …
//
// Kernel threads are left out, and so is who was preempted. The programs are attached as long as
// the object lives.
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
    uint64_t long_ns = 0;      // waits of this length and more come one by one
    bool with_wakers = false;  // Wait::waker, too
  };
  enum class State : uint8_t { kSleeps, kBlocked, kWaitsForIo };
  /// Who was running when a wait ended: an interrupt that ended it shows in the stack.
  struct Waker {
    uint32_t pid = 0, tid = 0;
    std::string comm;
    std::vector<uint64_t> kernel_stack, user_stack;  // innermost first; from the tracing on
  };
  struct Wait {
    uint32_t pid = 0, tid = 0;
    State state = State::kSleeps;
    uint64_t count = 1;  // waits that were added up
    uint64_t total_ns = 0;
    uint64_t runnable_ns = 0;  // of that: it had been woken and waited for a CPU
    uint64_t end_ns = 0;       // CLOCK_MONOTONIC; 0 where several were added up
    std::vector<uint64_t> kernel_stack, user_stack;  // innermost first; from the tracing on
    std::optional<Waker> waker;  // nothing where nobody asked, or where it goes on
  };

  /// Errors say what the kernel refused, and its verifier's last words.
  static Result<OffCpu> open(const Options& options);
  OffCpu(OffCpu&&) noexcept;
  OffCpu& operator=(OffCpu&&) noexcept;
  ~OffCpu();

  void set(FollowPhase phase);
  /// Those that have ended since it was asked last.
  std::vector<Wait> long_waits();
  /// Once, when it is over: what was added up, and waits that still go on (unless it was off).
  Result<std::vector<Wait>> rest();
  [[nodiscard]] LostWaits lost() const;

 private:
  struct Programs;
  explicit OffCpu(std::unique_ptr<Programs> programs);
  std::unique_ptr<Programs> programs_;
};

}  // namespace sonde
