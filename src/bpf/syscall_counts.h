// SyscallCounts: how often each system call was entered and left, counted by one BPF program
// instead of one tracepoint event per call.
//
//   SyscallCounts counts = TRY(SyscallCounts::open({.tasks = {.tids = {pid}}}));
//   counts.set_enabled(true);
//   std::vector<uint64_t> reads = counts.by_cpu(SYS_read, SyscallCounts::kEnter);
//
// The programs stay attached for the lifetime of the object, and disappear with the process however
// it ends: nothing is pinned. Threads started by counted threads are counted too, unless `inherit`
// is off.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "bpf/followed_tasks.h"

namespace sonde {

class SyscallCounts {
 public:
  struct Scope {
    FollowedTasks tasks = {};
    bool enter = true, exit = true;  // which directions are wanted: the other one costs nothing
  };
  enum Direction : uint8_t { kEnter = 0, kExit = 1 };
  /// System call numbers are below this.
  static constexpr uint32_t kNumbers = 1024;

  /// Errors say what the kernel refused, including its verifier's last words.
  static Result<SyscallCounts> open(const Scope& scope);
  SyscallCounts(SyscallCounts&&) noexcept;
  SyscallCounts& operator=(SyscallCounts&&) noexcept;
  ~SyscallCounts();

  void set_enabled(bool enabled);
  /// For how long it has counted. Zero: the program it waits for was never executed.
  [[nodiscard]] uint64_t enabled_ns() const;
  /// Calls of this number so far, by CPU.
  [[nodiscard]] std::vector<uint64_t> by_cpu(uint32_t number, Direction direction) const;
  /// New threads that could not be followed because there were more than 65,536 at a time.
  [[nodiscard]] uint64_t tasks_not_followed() const;

 private:
  struct State;
  explicit SyscallCounts(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
