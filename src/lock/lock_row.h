// What is known of a lock, a thread or a place in the kernel: how often, and for how long, it
// waited for locks. Keys and columns of the tables of `lock`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

/// What rows of a table stand for.
enum class LockGrouping : uint8_t {
  kCaller,  // a place that waited for locks
  kLock,    // a lock, by its address
  kThread,
  kOwner,   // the thread that had the lock; only live
  kCgroup,  // of who waited; only live
};

struct LockRow {
  uint64_t key = 0;  // address of a lock, tid, cgroup id; of a caller: see caller_key
  std::string name;  // of the caller who met it first, the lock's own (lockdep), or the cgroup's;
                     // see LockTableStyle
  uint32_t flags = 0;
  uint64_t acquired = 0, contended = 0;
  uint64_t total_ns = 0, longest_ns = 0;
  uint64_t shortest_ns = UINT64_MAX;  // UINT64_MAX: there was no wait
  bool is_broken = false;             // events contradict each other
  std::vector<uint64_t> stack;        // addresses, innermost first
  std::vector<std::string> frames;    // the same of programs, as lines

  bool waits_are_contended = false;  // the average is of waits that began, not of those that ended

  /// Per wait; as perf has it, sums of several locks and lockdep count those that began.
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

/// A column, and a key to sort by.
struct LockColumn {
  std::string_view name;  // on the command line
  std::string_view heading;
  size_t width;
  bool is_time;
  uint64_t (*value)(const LockRow& row);
};

/// Those of `lock report`: acquired, contended, avg_wait, wait_total, wait_max, wait_min; of
/// contention the same without acquired, in another order.
using LockColumns = std::vector<const LockColumn*>;
[[nodiscard]] LockColumns report_columns();
[[nodiscard]] LockColumns contention_columns();

/// Columns by name, "contended,wait_max". kUsage where one is none of `known`.
Result<LockColumns> choose_lock_columns(std::string_view names, const LockColumns& known);
/// What the rows are sorted by is shown, too: `key` becomes the last column where it is none.
void show_lock_key(LockColumns& columns, const LockColumn* key);
Result<const LockColumn*> choose_lock_key(std::string_view name, const LockColumns& known);

/// Largest first, else stably.
void sort_lock_rows(std::vector<LockRow>& rows, const LockColumn& key);
/// Rows of one name become one, where the first of them stands.
void combine_lock_rows(std::vector<LockRow>& rows);

/// perf keeps rows in a hash table and lists equal ones in its order; so do we: by the slot of the
/// key, in a slot the last that came first. `rows` must be in the order in which they came.
void to_perf_order(std::vector<LockRow>& rows);
/// The key of a call chain, of the addresses that count: perf's, for the order above.
[[nodiscard]] uint64_t add_to_caller_key(uint64_t key, uint64_t address);

}  // namespace sonde
