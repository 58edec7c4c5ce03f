// LockRowTable: the rows in which lock events accumulate, the threads seen, and the number of rows
// with contradictory events, by the event that broke them.
#pragma once

#include <utility>
#include <vector>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "lock/lock_row.h"

namespace sonde {

/// Broken rows, by the event that did not fit the previous ones. contention_begin counts as
/// contended, contention_end as acquired.
struct BrokenLockEvents {
  uint64_t acquire = 0, acquired = 0, contended = 0, release = 0;
};

class LockRowTable {
 public:
  /// Null if there is none.
  [[nodiscard]] LockRow* find(uint64_t key);
  /// The row, and whether it is new: then only its key is set. Valid until the next call.
  std::pair<LockRow&, bool> add(uint64_t key);
  void saw_thread(uint32_t tid) { threads_[tid] = true; }
  /// A row counts once, by what broke it first.
  void broke(LockRow& row, uint64_t BrokenLockEvents::* by);

  /// In the order in which perf lists equal rows.
  [[nodiscard]] std::vector<LockRow> rows() const;
  /// By tid.
  [[nodiscard]] std::vector<uint32_t> threads() const;
  [[nodiscard]] const BrokenLockEvents& broken() const { return broken_; }

 private:
  tsl::robin_map<uint64_t, uint32_t, NumberHash> by_key_;
  std::vector<LockRow> rows_;
  tsl::robin_map<uint32_t, bool> threads_;
  BrokenLockEvents broken_;
};

}  // namespace sonde
