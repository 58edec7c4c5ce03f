// Waits for kernel locks, accumulated by caller, lock or thread: from contention_begin to the
// contention_end of the same thread and lock. Used by `perf lock contention` and `report`.
#pragma once

#include <vector>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "lock/lock_callers.h"
#include "lock/lock_row_table.h"
#include "lock/lock_types.h"

namespace sonde {

class ContentionStats {
 public:
  struct Options {
    LockGrouping grouping = LockGrouping::kCaller;
    LockTypeFilter types = {};
    std::vector<uint64_t> locks = {};  // only these addresses; empty: all
    bool keep_stacks = false;          // of each row's first event
  };
  /// `pipeline`, `callers` and `table` must outlive this.
  ContentionStats(Options options, const LockPipeline& pipeline, LockCallers& callers,
                  LockRowTable& table)
      : options_(std::move(options)), pipeline_(pipeline), callers_(callers), table_(table) {}

  /// Ignores other events.
  void consume(const LockEvent& event);

 private:
  struct WaiterKey {
    uint64_t lock;
    uint32_t tid;
    bool operator==(const WaiterKey&) const = default;
  };
  struct WaiterHash {
    size_t operator()(const WaiterKey& key) const {
      return NumberHash()(key.lock ^ uint64_t{key.tid} << 40);
    }
  };
  struct Waiter {
    bool waits = false;  // otherwise it has, or had, the lock
    uint64_t since_ns = 0;
  };

  void begin(const LockEvent& event);
  void end(const LockEvent& event);
  [[nodiscard]] uint64_t key_of(const LockEvent& event);
  LockRow& row_of(const LockEvent& event);

  Options options_;
  const LockPipeline& pipeline_;
  LockCallers& callers_;
  LockRowTable& table_;
  tsl::robin_map<WaiterKey, Waiter, WaiterHash> waiters_;
};

}  // namespace sonde
