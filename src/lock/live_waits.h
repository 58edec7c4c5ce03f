// Converts what LockWaits accumulated in the kernel to the rows that recordings yield: waits by
// caller, named by this kernel's symbols.
#pragma once

#include <vector>

#include "bpf/lock_waits.h"
#include "lock/lock_callers.h"
#include "lock/lock_row.h"

namespace sonde {

struct LiveWaitOptions {
  LockGrouping grouping = LockGrouping::kCaller;
  LockCallerOptions callers = {};
  size_t max_stack = 8;  // addresses of a chain that distinguish callers
};

/// Strips the frames of the tracing itself, which come first, from a call chain.
[[nodiscard]] std::span<const uint64_t> without_tracing(std::span<const uint64_t> stack,
                                                        const KernelNamer& namer);

/// Rows with equal keys are in perf's order.
[[nodiscard]] std::vector<LockRow> rows_of_live_waits(const std::vector<LockWaits::Row>& rows,
                                                      const LiveWaitOptions& options,
                                                      const LockFunctions& functions,
                                                      const KernelNamer& namer);

}  // namespace sonde
