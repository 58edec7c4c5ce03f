#include "lock/lock_row_table.h"

#include <algorithm>

namespace sonde {

LockRow* LockRowTable::find(uint64_t key) {
  auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &rows_[found->second];
}

std::pair<LockRow&, bool> LockRowTable::add(uint64_t key) {
  auto [found, is_new] = by_key_.try_emplace(key, static_cast<uint32_t>(rows_.size()));
  if (is_new) rows_.emplace_back().key = key;
  return {rows_[found->second], is_new};
}

void LockRowTable::broke(LockRow& row, uint64_t BrokenLockEvents::* by) {
  if (!row.is_broken) ++(broken_.*by);
  row.is_broken = true;
}

std::vector<LockRow> LockRowTable::rows() const {
  std::vector<LockRow> rows = rows_;
  to_perf_order(rows);
  return rows;
}

std::vector<uint32_t> LockRowTable::threads() const {
  std::vector<uint32_t> tids;
  for (const auto& [tid, was_there] : threads_) tids.push_back(tid);
  std::ranges::sort(tids);
  return tids;
}

}  // namespace sonde
