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
  bool quiet = false;     // no headings
  bool stacks = false;    // below each row
  std::string separator;  // of -x: values only, in nanoseconds; empty: a table
  /// Of a row's flags.
  std::string_view (*type_name)(uint32_t flags) = lock_type_name;
  /// The name of a thread, of a lock, of an address in the kernel (or empty). Where the first two
  /// are not given, rows have the names.
  std::function<std::string(uint32_t)> thread_name;
  std::function<std::string(uint64_t)> lock_name, address_name;
};

/// "   12.34 us", `width` wide.
[[nodiscard]] std::string lock_time_text(uint64_t time_ns, size_t width);

/// These give how many rows they looked at, until there were enough.
size_t write_lock_report(Sink& out, const std::vector<LockRow>& rows, const LockTableStyle& style);
size_t write_contention(Sink& out, const std::vector<LockRow>& rows, const LockTableStyle& style);
/// What contradicted itself among those rows; nothing where nothing did, unless `always`. With a
/// separator it is one line, a comment.
void write_broken(Sink& out, std::span<const LockRow> rows, const BrokenLockEvents& broken,
                  bool always, std::string_view separator = {});
void write_lock_threads(Sink& out, const std::vector<uint32_t>& tids,
                        const std::function<std::string(uint32_t)>& name);
/// By name.
void write_lock_map(Sink& out, std::vector<LockRow> rows);

}  // namespace sonde
