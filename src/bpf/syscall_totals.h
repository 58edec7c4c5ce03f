// SyscallSums: how often system calls were made, how long they took and how they failed, added up
// by BPF programs: nothing is sent per call.
//
//   SyscallSums sums = TRY(SyscallSums::open(calls, SyscallSums::By::kThread));
//   sums.set_enabled(true);
//   for (const SyscallSums::Row& row : sums.rows()) …
//
// A row is what one thread (or cgroup) got from one call, by result: its calls that succeeded are
// one row, each errno that it met is another. Calls are counted when they return, if they were seen
// to begin. The programs are attached as long as the object lives, and go with the process.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "bpf/traced_calls.h"

namespace sonde {

class SyscallSums {
 public:
  enum class By : uint8_t { kThread, kAll, kCgroup };
  struct Row {
    uint64_t who = 0;  // thread or cgroup id; 0 for By::kAll
    uint32_t number = 0;
    bool compat = false;
    uint32_t error = 0;  // errno; 0: it succeeded
    uint64_t calls = 0, total_ns = 0, min_ns = 0, max_ns = 0;
    double squares_ns2 = 0;
  };
  struct Name {
    uint32_t tid = 0;
    int32_t pid = 0;
    std::string comm;
  };

  /// Errors say what the kernel refused, and its verifier's last words.
  static Result<SyscallSums> open(const TracedCalls& calls, By by);
  SyscallSums(SyscallSums&&) noexcept;
  SyscallSums& operator=(SyscallSums&&) noexcept;
  ~SyscallSums();

  void set_enabled(bool enabled);
  /// Threads that were started before the programs could see it.
  void follow(std::span<const uint32_t> tids);
  /// Each row once, in no order.
  [[nodiscard]] std::vector<Row> rows() const;
  /// Of threads that have rows, also of ended ones; as far as there was room for their names.
  [[nodiscard]] std::vector<Name> names() const;
  /// Calls for which there was no room.
  [[nodiscard]] uint64_t lost() const;
  [[nodiscard]] uint64_t tasks_not_followed() const;
  /// As SyscallTrace's.
  [[nodiscard]] bool has_tasks() const;
  Result<bool> include_new_compat_programs();

 private:
  struct State;
  explicit SyscallSums(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
