// The rows that the kernel added up per result (bpf/syscall_totals.h), as rows per thread and call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/syscall_totals.h"
#include "trace/sources/bpf_records.h"
#include "trace/sources/trace_source.h"

namespace sonde {

struct TotalsNaming {
  TraceRequest::Totals by = TraceRequest::Totals::kByThread;
  bool errno_totals = false;
  SyscallAbis abis = host_syscall_abis();
};

/// Ordered by task or cgroup, ABI and number; the errors of a row by errno. `comm` points into
/// `names`; a thread that is not in `names` gets its own id as its process id.
[[nodiscard]] std::vector<CallTotals> total_rows(std::span<const SyscallTotals::Row> rows,
                                                 std::span<const SyscallTotals::Name> names,
                                                 const TotalsNaming& naming);

}  // namespace sonde
