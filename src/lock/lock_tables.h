// The tables of `lock report`, `contention` and `info`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/sink.h"
#include "lock/lock_row_table.h"
#include "lock/lock_types.h"

namespace sonde {

struct LockTableStyle {
  LockColumns columns;
  LockGrouping grouping = LockGrouping::kCaller;
  uint64_t most_rows = UINT64_MAX;
  bool quiet = false;            // no headings
  bool stacks = false;           // below each row
  std::string separator;         // for -x: values only, in nanoseconds; empty: a table
  bool quotes_formulas = false;  // for -x (base/csv.h)
  /// Names the type in a row's flags.
  std::string_view (*type_name)(uint32_t flags) = lock_type_name;
  /// The name of a thread, of a lock, of a kernel address (may be empty). If the first two are not
  /// set, the rows have the names.
  std::function<std::string(uint32_t)> thread_name;
  std::function<std::string(uint64_t)> lock_name, address_name;
};

/// "   12.34 us", `width` wide.
[[nodiscard]] std::string lock_time_text(uint64_t time_ns, size_t width);

/// These return the number of rows examined until there were enough.
size_t write_lock_report(Sink& out, const std::vector<LockRow>& rows, const LockTableStyle& style);
size_t write_contention(Sink& out, const std::vector<LockRow>& rows, const LockTableStyle& style);
/// The contradictions among those rows; nothing if there are none, unless `always`. With a
/// separator it is one comment line.
void write_broken(Sink& out, std::span<const LockRow> rows, const BrokenLockEvents& broken,
                  bool always, std::string_view separator = {});
void write_lock_threads(Sink& out, const std::vector<uint32_t>& tids,
                        const std::function<std::string(uint32_t)>& name);
/// By name.
void write_lock_map(Sink& out, std::vector<LockRow> rows);

}  // namespace sonde
