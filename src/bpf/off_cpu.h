// OffCpu: where threads wait, measured by BPF programs at each switch: how long they were off their
// CPUs of their own will, and by which calls. Short waits are added up per thread and call chain;
// long ones come one by one, with their times.
//
//   OffCpu waits = TRY(OffCpu::open({.all_tasks = true}));
//   waits.set(OffCpu::Phase::kOn);
//   for (const OffCpu::Wait& wait : waits.long_waits()) …     now and then
//   waits.set(OffCpu::Phase::kOver);
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

namespace sonde {

class OffCpu {
 public:
  struct Options {
    bool all_tasks = false;
    std::vector<uint32_t> tids = {};  // else these, and what they start
    bool inherit = true;
    bool enable_on_exec = false;  // measuring begins when one of them executes a program
    uint64_t long_ns = 0;         // waits of this length and more come one by one
    bool with_wakers = false;     // Wait::waker, too
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
  /// What there was no room for.
  struct Lost {
    uint64_t waits = 0, ns = 0, stacks = 0;
  };

  /// Errors say what the kernel refused, and its verifier's last words.
  static Result<OffCpu> open(const Options& options);
  OffCpu(OffCpu&&) noexcept;
  OffCpu& operator=(OffCpu&&) noexcept;
  ~OffCpu();

  enum class Phase : uint8_t { kOff, kOn, kOver };  // enum follow_state
  void set(Phase phase);
  /// Those that have ended since it was asked last.
  std::vector<Wait> long_waits();
  /// Once, when it is over: what was added up, and waits that still go on (unless it was off).
  Result<std::vector<Wait>> rest();
  [[nodiscard]] Lost lost() const;

 private:
  struct Programs;
  explicit OffCpu(std::unique_ptr<Programs> programs);
  std::unique_ptr<Programs> programs_;
};

}  // namespace sonde
