#include "lock/contention_stats.h"

#include <algorithm>

namespace sonde {

void ContentionStats::consume(const LockEvent& event) {
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

LockRow& ContentionStats::row_of(const LockEvent& event) {
  auto [row, is_new] = table_.add(key_of(event));
  if (!is_new) return row;
  row.flags = event.flags;
  row.name = callers_.of(event).name;
  if (options_.keep_stacks) {
    SampleOffsets::Chain chain;
    pipeline_.read_chain(event, chain);
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
  table_.saw_thread(event.tid);
  Waiter& waiter = waiters_[{event.lock, event.tid}];
  // A mutex reports that it begins to spin, and again that it goes to sleep: one wait.
  if (waiter.waits) return;
  waiter = {true, event.time};
  ++row.contended;
}

void ContentionStats::end(const LockEvent& event) {
  auto found = waiters_.find({event.lock, event.tid});
  if (found == waiters_.end()) return;
  LockRow* row = table_.find(key_of(event));
  if (row == nullptr) return;
  Waiter& waiter = found.value();
  if (!waiter.waits) {
    // Its begin was lost.
    table_.broke(*row, &BrokenLockEvents::acquired);
    waiters_.erase(found);
    return;
  }
  row->add_wait(event.time - waiter.since_ns);
  ++row->acquired;
  waiter.waits = false;
}

}  // namespace sonde
