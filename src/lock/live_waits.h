// What LockWaits added up in the kernel, as the rows that recordings give: waits by caller, named
// by this kernel's symbols.
#pragma once

#include <vector>

#include "bpf/lock_waits.h"
#include "lock/lock_callers.h"
#include "lock/lock_row.h"

namespace sonde {

struct LiveWaitOptions {
  LockGrouping grouping = LockGrouping::kCaller;
  LockCallerOptions callers = {};
  size_t max_stack = 8;  // addresses of a chain that tell callers apart
};

/// Call chains without the frames of the tracing itself, which come first.
[[nodiscard]] std::span<const uint64_t> without_tracing(std::span<const uint64_t> stack,
                                                        const KernelNamer& namer);

/// `rows` in perf's order of equal ones.
[[nodiscard]] std::vector<LockRow> rows_of_live_waits(const std::vector<LockWaits::Row>& rows,
                                                      const LiveWaitOptions& options,
                                                      const LockFunctions& functions,
                                                      const KernelNamer& namer);

}  // namespace sonde
