#include "lock/contention_stats.h"

#include <algorithm>

namespace sonde {

void ContentionStats::take(const LockEvent& event) {
  if (event.kind == LockEventKind::kContentionBegin)
    begin(event);
  else if (event.kind == LockEventKind::kContentionEnd)
    end(event);
}

uint64_t ContentionStats::key_of(const LockEvent& event) {
  switch (options_.grouping) {
    case LockGrouping::kLock:
      return event.lock;
    case LockGrouping::kThread:
      return event.tid;
    default:
      return callers_.of(event).key;
  }
}

LockRow* ContentionStats::find_row(const LockEvent& event) {
  auto found = by_key_.find(key_of(event));
  return found == by_key_.end() ? nullptr : &rows_[found->second];
}

LockRow& ContentionStats::row_of(const LockEvent& event) {
  auto [found, is_new] = by_key_.try_emplace(key_of(event), static_cast<uint32_t>(rows_.size()));
  if (!is_new) return rows_[found->second];
  LockRow& row = rows_.emplace_back();
  row.key = found->first;
  row.flags = event.flags;
  row.name = callers_.of(event).name;
  if (options_.keep_stacks) {
    SamplePlaces::Chain chain;
    feed_.read_chain(event, chain);
    row.stack.assign(chain.all().begin(), chain.all().end());
  }
  return row;
}

void ContentionStats::begin(const LockEvent& event) {
  if (!options_.types.passes(event.flags)) return;
  if (!options_.locks.empty() &&
      std::ranges::find(options_.locks, event.lock) == options_.locks.end())
    return;
  if (!callers_.of(event).passes) return;
  LockRow& row = row_of(event);
  threads_[event.tid] = true;
  Waiter& waiter = waiters_[{event.lock, event.tid}];
  // A mutex tells that it begins to spin, and again that it goes to sleep: one wait.
  if (waiter.waits) return;
  waiter = {true, event.time};
  ++row.contended;
}

void ContentionStats::end(const LockEvent& event) {
  auto found = waiters_.find({event.lock, event.tid});
  if (found == waiters_.end()) return;
  LockRow* row = find_row(event);
  if (row == nullptr) return;
  Waiter& waiter = found.value();
  if (!waiter.waits) {
    // Its begin was lost.
    if (!row->is_broken) ++broken_.acquired;
    row->is_broken = true;
    waiters_.erase(found);
    return;
  }
  row->add_wait(event.time - waiter.since_ns);
  ++row->acquired;
  waiter.waits = false;
}

std::vector<LockRow> ContentionStats::rows() const {
  std::vector<LockRow> rows = rows_;
  to_perf_order(rows);
  return rows;
}

std::vector<uint32_t> ContentionStats::threads() const {
  std::vector<uint32_t> tids;
  for (const auto& [tid, was_there] : threads_) tids.push_back(tid);
  std::ranges::sort(tids);
  return tids;
}

}  // namespace sonde
