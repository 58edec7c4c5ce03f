// How often, and for how long, a lock, a thread or a place in the kernel waited for locks. Keys and
// columns of the tables of `lock`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

/// What the rows of a table stand for.
enum class LockGrouping : uint8_t {
  kCaller,  // a place that waited for locks
  kLock,    // a lock, by its address
  kThread,
  kOwner,   // the thread that had the lock; only live
  kCgroup,  // of the waiter; only live
};

struct LockRow {
  uint64_t key = 0;  // lock address, tid, cgroup id; caller: add_to_caller_key
  std::string name;  // of the caller that met it first, the lock's own (lockdep), or the cgroup's;
                     // see LockTableStyle
  uint32_t flags = 0;
  uint64_t acquired = 0, contended = 0;
  uint64_t total_ns = 0, longest_ns = 0;
  uint64_t shortest_ns = UINT64_MAX;  // UINT64_MAX: there was no wait
  bool is_broken = false;             // events contradict each other
  std::vector<uint64_t> stack;        // addresses, innermost first
  std::vector<std::string> frames;    // the same for programs, as lines

  bool waits_are_contended = false;  // the average is over waits begun, not ended

  /// Per wait; as in perf, sums over several locks and lockdep count those that began.
  [[nodiscard]] uint64_t average_ns() const {
    uint64_t waits = waits_are_contended ? contended : acquired;
    return waits == 0 ? 0 : total_ns / waits;
  }
  [[nodiscard]] uint64_t shortest_or_0() const {
    return shortest_ns == UINT64_MAX ? 0 : shortest_ns;
  }
  void add_wait(uint64_t wait_ns);
  void add(const LockRow& other);
};

/// A column, usable as a sort key.
struct LockColumn {
  std::string_view name;  // on the command line
  std::string_view heading;
  size_t width;
  bool is_time;
  uint64_t (*value)(const LockRow& row);
};

/// The columns of `lock report`: acquired, contended, avg_wait, wait_total, wait_max, wait_min;
/// `contention` has the same without acquired, in another order.
using LockColumns = std::vector<const LockColumn*>;
[[nodiscard]] LockColumns report_columns();
[[nodiscard]] LockColumns contention_columns();

/// Columns by name, "contended,wait_max". Fails with kUsage on a name not in `known`.
Result<LockColumns> choose_lock_columns(std::string_view names, const LockColumns& known);
/// The sort key must be visible: appends `key` if it is not among the columns.
void show_lock_key(LockColumns& columns, const LockColumn* key);
Result<const LockColumn*> choose_lock_key(std::string_view name, const LockColumns& known);

/// Largest first, stably.
void sort_lock_rows(std::vector<LockRow>& rows, const LockColumn& key);
/// Merges rows of the same name, at the position of the first.
void combine_lock_rows(std::vector<LockRow>& rows);

/// perf keeps rows in a hash table and lists equal ones in its order; so do we: by the slot of the
/// key, and within a slot the last inserted first. `rows` must be in insertion order.
void to_perf_order(std::vector<LockRow>& rows);
/// Extends the key of a call chain by one address: perf's hash, for the order above.
[[nodiscard]] uint64_t add_to_caller_key(uint64_t key, uint64_t address);

}  // namespace sonde
