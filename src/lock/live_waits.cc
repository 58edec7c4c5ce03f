#include "lock/live_waits.h"

#include <algorithm>
#include <array>

namespace sonde {
namespace {

LockRow sums_of(const LockWaits::Row& wait) {
  LockRow row;
  row.key = wait.what;
  row.flags = wait.flags;
  row.name = wait.comm;
  row.acquired = row.contended = wait.count;
  row.total_ns = wait.total_ns;
  row.longest_ns = wait.longest_ns;
  row.shortest_ns = wait.shortest_ns;
  return row;
}

/// Functions between the lock and the BPF program.
bool is_tracing(std::string_view function) {
  constexpr std::array<std::string_view, 4> kBeginnings{"bpf_prog_", "bpf_trace_run",
                                                        "__bpf_trace_", "__traceiter_"};
  return std::ranges::any_of(kBeginnings,
                             [&](std::string_view name) { return function.starts_with(name); });
}

}  // namespace

std::span<const uint64_t> without_tracing(std::span<const uint64_t> stack,
                                          const KernelNamer& namer) {
  size_t first = 0;
  while (first < stack.size()) {
    auto symbol = namer(stack[first]);
    // The program's own code has a symbol only while it is loaded.
    bool is_program = !symbol && first == 0;
    if (!is_program && !(symbol && is_tracing(symbol->name))) break;
    ++first;
  }
  return stack.subspan(first);
}

std::vector<LockRow> rows_of_live_waits(const std::vector<LockWaits::Row>& rows,
                                        const LiveWaitOptions& options,
                                        const LockFunctions& functions, const KernelNamer& namer) {
  std::vector<LockRow> result;
  tsl::robin_map<uint64_t, size_t> by_key;
  for (const LockWaits::Row& wait : rows) {
    LockRow row = sums_of(wait);
    if (options.grouping == LockGrouping::kCaller) {
      auto stack = without_tracing(wait.stack, namer);
      stack = stack.first(std::min(stack.size(), options.max_stack));
      LockCaller caller = find_lock_caller(stack, stack.size(), options.callers, functions, namer);
      if (!caller.passes) continue;
      row.key = caller.key;
      row.name = caller.name;
      row.stack.assign(stack.begin(), stack.end());
    }
    auto [found, is_new] = by_key.try_emplace(row.key, result.size());
    if (is_new)
      result.push_back(std::move(row));
    else
      result[found->second].add(row);
  }
  to_perf_order(result);
  return result;
}

}  // namespace sonde
