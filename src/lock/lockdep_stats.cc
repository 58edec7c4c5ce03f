#include "lock/lockdep_stats.h"

namespace sonde {
namespace {

// lock_acquire's flags, include/trace/events/lock.h: 1 is a try, 2 a reader.
constexpr uint32_t kReader = 2;

}  // namespace

LockRow& LockdepStats::row_of(const LockEvent& event) {
  auto [row, is_new] = table_.add(grouping_ == LockGrouping::kThread ? event.tid : event.lock);
  if (is_new) row.name = pipeline_.read_name(event);
  // It has locks that it never waited for.
  row.waits_are_contended = true;
  return row;
}

void LockdepStats::consume(const LockEvent& event) {
  if (!is_lockdep(event.kind)) return;
  LockRow& row = row_of(event);
  table_.saw_thread(event.tid);
  if (event.kind == LockEventKind::kAcquire) return acquire(event, row);
  auto use = uses_.find({event.lock, event.tid});
  if (use == uses_.end()) return;
  if (event.kind == LockEventKind::kContended)
    contended(event, row, use);
  else if (event.kind == LockEventKind::kAcquired)
    acquired(event, row, use);
  else
    release(row, use);
}

void LockdepStats::acquire(const LockEvent& event, LockRow& row) {
  auto [use, is_new] = uses_.try_emplace({event.lock, event.tid});
  if (!is_new) return read_again(event, row, use);
  if (event.flags == 0) return;
  use.value() = {.stage = Stage::kRead, .readers = 1};
  ++row.acquired;
}

void LockdepStats::read_again(const LockEvent& event, LockRow& row, Uses::iterator use) {
  if (use->second.stage != Stage::kRead || (event.flags & kReader) == 0)
    return give_up(row, use, &BrokenLockEvents::acquire);
  ++use.value().readers;
  ++row.acquired;
}

void LockdepStats::contended(const LockEvent& event, LockRow& row, Uses::iterator use) {
  if (use->second.stage != Stage::kWanted) return give_up(row, use, &BrokenLockEvents::contended);
  use.value() = {.stage = Stage::kContended, .since_ns = event.time};
  ++row.contended;
}

void LockdepStats::acquired(const LockEvent& event, LockRow& row, Uses::iterator use) {
  Stage stage = use->second.stage;
  if (stage != Stage::kWanted && stage != Stage::kContended)
    return give_up(row, use, &BrokenLockEvents::acquired);
  if (stage == Stage::kContended) row.add_wait(event.time - use->second.since_ns);
  use.value().stage = Stage::kHad;
  ++row.acquired;
}

void LockdepStats::release(LockRow& row, Uses::iterator use) {
  Stage stage = use->second.stage;
  if (stage == Stage::kRead && --use.value().readers != 0) return;
  if (stage == Stage::kWanted || stage == Stage::kContended)
    return give_up(row, use, &BrokenLockEvents::release);
  uses_.erase(use);
}

void LockdepStats::give_up(LockRow& row, Uses::iterator use, uint64_t BrokenLockEvents::* by) {
  table_.broke(row, by);
  uses_.erase(use);
}

}  // namespace sonde
