#include "trace/sources/bpf_totals.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace sonde {
namespace {

void add(const SyscallTotals::Row& row, bool errno_totals, CallTotals& to) {
  to.min_ns = to.calls == 0 ? row.min_ns : std::min(to.min_ns, row.min_ns);
  to.max_ns = std::max(to.max_ns, row.max_ns);
  to.calls += row.calls;
  to.total_ns += row.total_ns;
  to.squares_ns2 += row.squares_ns2;
  if (row.error == 0) return;
  to.errors += row.calls;
  if (errno_totals) to.by_errno.push_back({static_cast<int>(row.error), row.calls});
}

}  // namespace

std::vector<CallTotals> total_rows(std::span<const SyscallTotals::Row> rows,
                                   std::span<const SyscallTotals::Name> names,
                                   const TotalsNaming& naming) {
  std::unordered_map<uint64_t, const SyscallTotals::Name*> by_tid;
  for (const SyscallTotals::Name& name : names) by_tid[name.tid] = &name;
  std::map<std::tuple<uint64_t, bool, uint32_t>, CallTotals> table;
  for (const SyscallTotals::Row& row : rows) {
    CallTotals& to = table[{row.who, row.compat, row.number}];
    to.abi = row.compat ? naming.abis.compat : naming.abis.native;
    to.number = row.number;
    if (naming.by == TraceRequest::Totals::kByCgroup) to.cgroup = row.who;
    if (naming.by == TraceRequest::Totals::kByThread) {
      to.pid = to.tid = static_cast<int32_t>(row.who);
      if (auto name = by_tid.find(row.who); name != by_tid.end()) {
        to.pid = name->second->pid;
        to.comm = name->second->comm;
      }
    }
    add(row, naming.errno_totals, to);
  }
  std::vector<CallTotals> all;
  all.reserve(table.size());
  for (auto& [key, totals] : table) {
    std::ranges::sort(totals.by_errno, {}, &CallTotals::ErrorCount::error);
    all.push_back(std::move(totals));
  }
  return all;
}

}  // namespace sonde
