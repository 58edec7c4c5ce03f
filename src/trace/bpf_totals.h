// Rows that the kernel added up by result (bpf/syscall_totals.h), as rows per thread and call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/syscall_totals.h"
#include "trace/bpf_records.h"
#include "trace/trace_source.h"

namespace sonde {

struct TotalsNaming {
  TraceRequest::Totals by = TraceRequest::Totals::kByThread;
  bool errno_totals = false;
  SyscallAbis abis = host_syscall_abis();
};

/// In the order of task or cgroup, ABI and number; a row's errors in the order of their numbers.
/// `comm` points into `names`; a thread without a name there has its own id as its process's.
[[nodiscard]] std::vector<SyscallTotals> total_rows(std::span<const SyscallSums::Row> rows,
                                                    std::span<const SyscallSums::Name> names,
                                                    const TotalsNaming& naming);

}  // namespace sonde
