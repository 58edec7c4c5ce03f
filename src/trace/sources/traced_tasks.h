// The threads of a trace: their names, the call that each is in, and their counts.
//
// Names come from COMM records and from sources that report them; a live trace reads the name of a
// thread that existed before from /proc, once. Unless counts are kept, a thread is forgotten when
// it ends, so the memory of a long trace is bounded by what is running.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/sources/trace_event.h"
#include "trace/views/call_stats.h"

namespace sonde {

/// A call in one of the tables, as a key.
struct SyscallKey {
  SyscallAbi abi = SyscallAbi::kX86_64;
  uint32_t number = 0;
  auto operator<=>(const SyscallKey&) const = default;
};

struct TracedTask {
  int32_t pid = -1, tid = -1;
  std::string comm;
  bool has_comm = false;
  bool has_exited = false;

  // The call that it is in.
  uint64_t entry_ns = 0;  // 0: not known
  uint32_t entry_number = 0;
  std::array<uint64_t, 6> entry_args = {};
  bool is_pending = false;  // its line has not been printed yet
  std::string entry_text;   // "openat(dfd: CWD, …" without the parenthesis

  // What was counted.
  uint64_t events = 0;
  uint64_t major_faults = 0, minor_faults = 0;
  uint64_t runtime_ns = 0;
  std::map<SyscallKey, CallStats> calls;
};

class TracedTasks {
 public:
  /// `name_of` asks the running machine for the name of a thread that has none yet; may be empty.
  /// `keep`: threads that ended stay in all().
  TracedTasks(std::function<std::string(int32_t tid)> name_of, bool keep)
      : name_of_(std::move(name_of)), keep_(keep) {}

  /// The thread, added if it is new. The reference is valid until the thread exits.
  TracedTask& of(int32_t pid, int32_t tid);
  void rename(int32_t pid, int32_t tid, std::string_view comm);
  /// The child inherits its parent's name.
  void fork(int32_t pid, int32_t tid, int32_t parent_tid);
  void exit(int32_t tid);
  /// The name of a known thread; empty otherwise.
  [[nodiscard]] std::string_view name_of(int32_t tid) const;
  /// Null if it is not known.
  [[nodiscard]] TracedTask* find(int32_t tid);
  /// Threads in a call whose line is pending, in order of entry.
  [[nodiscard]] std::vector<TracedTask*> with_open_calls();
  [[nodiscard]] const std::deque<TracedTask>& all() const { return tasks_; }

 private:
  TracedTask& add(int32_t pid, int32_t tid);

  std::function<std::string(int32_t)> name_of_;
  bool keep_;
  std::deque<TracedTask> tasks_;
  std::vector<size_t> free_;
  tsl::robin_map<int32_t, size_t> by_tid_;
};

}  // namespace sonde
