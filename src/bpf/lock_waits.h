// LockWaits: how long threads wait for kernel locks, added up by BPF programs in the kernel: a busy
// machine needs kilobytes, not a recording.
//
//   LockWaits waits = TRY(LockWaits::open({.tasks = {.all = true}}));
//   waits.set_enabled(true);
//   for (const LockWaits::Row& row : waits.rows()) …
//
// A wait is counted when it ends, if its beginning was seen. The programs stay attached for the
// lifetime of the object, and disappear with the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "bpf/followed_tasks.h"

namespace sonde {

class LockWaits {
 public:
  enum class By : uint8_t { kStack, kThread, kLock, kOwner, kCgroup };
  struct Options {
    By by = By::kStack;
    FollowedTasks tasks = {};
    std::vector<uint64_t> locks = {};    // only these; empty: all
    std::vector<uint32_t> types = {};    // only locks with these flags; empty: all
    std::vector<uint32_t> cpus = {};     // only waits that begin on these; empty: all
    std::vector<uint64_t> cgroups = {};  // only threads of these, without child cgroups; empty: all
    uint32_t most_rows = 10240;
  };
  struct Row {
    uint64_t what = 0;   // tid, address of a lock, id of a cgroup; -1: unknown owner
    uint32_t flags = 0;  // LCB_F_*; 0 for thread, owner and cgroup
    uint64_t count = 0, total_ns = 0, longest_ns = 0, shortest_ns = 0;
    std::string comm;             // of the thread or owner
    std::vector<uint64_t> stack;  // innermost first; its first frames are the tracing itself
  };
  /// What there was no room for: a larger `most_rows` helps against the last two.
  struct Lost {
    uint64_t waits = 0, stacks = 0, rows = 0;
  };

  /// Errors say what the kernel refused, including its verifier's last words.
  static Result<LockWaits> open(const Options& options);
  LockWaits(LockWaits&&) noexcept;
  LockWaits& operator=(LockWaits&&) noexcept;
  ~LockWaits();

  void set_enabled(bool enabled);
  /// Each row once, in no particular order.
  [[nodiscard]] std::vector<Row> rows() const;
  [[nodiscard]] Lost lost() const;

 private:
  struct State;
  explicit LockWaits(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
