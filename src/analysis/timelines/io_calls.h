// What threads read, wrote and waited for in system calls, as a timeline: from recordings of
// syscalls:sys_enter_* and sys_exit_* of the calls that `timechart record -I` records.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/loss.h"
#include "perfdata/read/file_scan.h"
#include "view/timeline.h"

namespace sonde {

struct IoCallName {
  std::string_view name;  // "pread64"
  view::IoKind kind;
};
/// In the order in which they are recorded.
[[nodiscard]] std::span<const IoCallName> io_call_names();

struct IoOptions {
  bool skip_eagain = false;          // drop calls that failed with EAGAIN
  uint64_t shortest_ns = 1'000'000;  // shorter calls are drawn this long
  uint64_t merge_within_ns = 1'000;  // calls of one kind that are closer together are merged
};

/// Whether a recording has such calls.
[[nodiscard]] bool has_io_calls(const EventTable& events);

/// Threads are sorted by bytes, most first. `scan` must be at its start.
view::Timeline io_timeline(FileScan& scan, const IoOptions& options, LossLedger& losses);

}  // namespace sonde
