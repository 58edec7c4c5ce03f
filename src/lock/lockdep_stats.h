// What kernels with CONFIG_LOCKDEP and CONFIG_LOCK_STAT report of every use of a lock, accumulated
// by lock or thread: lock_acquire (a thread wants it), lock_contended (it is taken), lock_acquired
// (it has it), lock_release. What `perf lock report` shows for such recordings.
//
//   acquire ─► acquired ─► release                a free lock
//   acquire ─► contended ─► acquired ─► release   a taken one: waits from contended on
//   acquire (try or read) ─► release              no acquired: the lock is had at once
//
// A thread may hold several locks at a time, and may take a read lock again that it already holds.
// An event that does not fit the previous ones breaks its row and ends that use. Without a
// preceding acquire (the recording began later) an event is ignored.
#pragma once

#include <tsl/robin_map.h>

#include "lock/lock_pipeline.h"
#include "lock/lock_row_table.h"

namespace sonde {

class LockdepStats {
 public:
  /// `grouping`: kLock or kThread. `pipeline` and `table` must outlive this.
  LockdepStats(LockGrouping grouping, const LockPipeline& pipeline, LockRowTable& table)
      : grouping_(grouping), pipeline_(pipeline), table_(table) {}

  /// Ignores other events.
  void consume(const LockEvent& event);

 private:
  struct Key {
    uint64_t lock;
    uint32_t tid;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return NumberHash()(key.lock ^ uint64_t{key.tid} << 40);
    }
  };
  enum class Stage : uint8_t { kWanted, kContended, kHad, kRead };
  struct Use {
    Stage stage = Stage::kWanted;
    uint32_t readers = 0;  // kRead: how often it was taken
    uint64_t since_ns = 0;
  };
  using Uses = tsl::robin_map<Key, Use, KeyHash>;

  LockRow& row_of(const LockEvent& event);
  void acquire(const LockEvent& event, LockRow& row);
  void read_again(const LockEvent& event, LockRow& row, Uses::iterator use);
  void contended(const LockEvent& event, LockRow& row, Uses::iterator use);
  void acquired(const LockEvent& event, LockRow& row, Uses::iterator use);
  void release(LockRow& row, Uses::iterator use);
  void give_up(LockRow& row, Uses::iterator use, uint64_t BrokenLockEvents::* by);

  LockGrouping grouping_;
  const LockPipeline& pipeline_;
  LockRowTable& table_;
  Uses uses_;
};

}  // namespace sonde
