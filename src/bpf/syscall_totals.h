// SyscallTotals: how often system calls were made, how long they took and how they failed,
// added up by BPF programs: nothing is sent per call.
//
//   SyscallTotals sums = TRY(SyscallTotals::open(calls, SyscallTotals::By::kThread));
//   sums.set_enabled(true);
//   for (const SyscallTotals::Row& row : sums.rows()) …
//
// A row is one thread's (or cgroup's) calls of one system call, by result: the successful ones are
// one row, those with each errno another. Calls are counted when they return, if their beginning
// was seen. The programs stay attached for the lifetime of the object, and disappear with the
// process.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "bpf/traced_calls.h"

namespace sonde {

class SyscallTotals {
 public:
  enum class By : uint8_t { kThread, kAll, kCgroup };
  struct Row {
    uint64_t who = 0;  // thread or cgroup id; 0 for By::kAll
    uint32_t number = 0;
    bool compat = false;
    uint32_t error = 0;  // errno; 0: success
    uint64_t calls = 0, total_ns = 0, min_ns = 0, max_ns = 0;
    double squares_ns2 = 0;
  };
  struct Name {
    uint32_t tid = 0;
    int32_t pid = 0;
    std::string comm;
  };

  /// Errors say what the kernel refused, including its verifier's last words.
  static Result<SyscallTotals> open(const TracedCalls& calls, By by);
  SyscallTotals(SyscallTotals&&) noexcept;
  SyscallTotals& operator=(SyscallTotals&&) noexcept;
  ~SyscallTotals();

  void set_enabled(bool enabled);
  /// Adds threads that were started before the programs could see it.
  void follow(std::span<const uint32_t> tids);
  /// Each row once, in no particular order.
  [[nodiscard]] std::vector<Row> rows() const;
  /// Names of threads that have rows, including ended ones; as far as there was room.
  [[nodiscard]] std::vector<Name> names() const;
  /// Calls for which there was no room.
  [[nodiscard]] uint64_t lost() const;
  [[nodiscard]] uint64_t tasks_not_followed() const;
  /// As in SyscallTrace.
  [[nodiscard]] bool has_tasks() const;
  Result<bool> include_new_compat_programs();
  /// The descriptor of the programs' map of this name (map_text.h).
  [[nodiscard]] Result<int> map(std::string_view name) const;

 private:
  struct State;
  explicit SyscallTotals(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
