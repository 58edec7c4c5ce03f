#include "trace/views/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace sonde {
namespace {

constexpr std::string_view kHead =
    "\n"
    "   syscall            calls  errors  total       min       avg       max       stddev\n"
    "                                     (msec)    (msec)    (msec)    (msec)        (%)\n"
    "   --------------- --------  ------ -------- --------- --------- ---------     ------\n";

constexpr double kNsPerMs = 1e6;

struct SummaryRow {
  SyscallKey key;
  const CallStats* stats;
  double total_ms;
};

std::vector<SummaryRow> rows_of(const SummaryGroup& group, uint32_t most) {
  std::vector<SummaryRow> rows;
  for (const auto& [key, stats] : group.calls)
    rows.push_back(
        {key, &stats, static_cast<double>(stats.calls()) * (stats.mean_ns() / kNsPerMs)});
  std::ranges::stable_sort(rows, std::ranges::greater(), &SummaryRow::total_ms);
  if (most != 0 && rows.size() > most) rows.resize(most);
  return rows;
}

void write_row(Sink& out, const SummaryRow& row, const SummaryOptions& options, CallTexts& texts) {
  const CallStats& stats = *row.stats;
  out.print("   {:<15} {:>8} {:>6} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.2f}%\n",
            texts.name(row.key.abi, row.key.number), stats.calls(), stats.errors(), row.total_ms,
            static_cast<double>(stats.min_ns()) / kNsPerMs, stats.mean_ns() / kNsPerMs,
            static_cast<double>(stats.max_ns()) / kNsPerMs, stats.deviation_percent());
  if (!options.errnos) return;
  for (auto [number, count] : stats.by_errno())
    out.print("\t\t\t\t{}: {}\n", texts.error_name(number), count);
}

void write_group(Sink& out, const SummaryGroup& group, uint64_t all_events,
                 const SummaryOptions& options, CallTexts& texts) {
  out.print(" {}, {} events", group.name, group.events);
  if (options.mode == SummaryMode::kThread)
    out.print(", {:.1f}%", all_events == 0 ? 0.0
                                           : static_cast<double>(group.events) /
                                                 static_cast<double>(all_events) * 100.0);
  if (group.major_faults > 0) out.print(", {} majfaults", group.major_faults);
  if (group.minor_faults > 0) out.print(", {} minfaults", group.minor_faults);
  if (options.runtime) out.print(", {:.3f} msec", static_cast<double>(group.runtime_ns) / kNsPerMs);
  out.put('\n');
  if (!group.calls.empty()) {
    out.write_lines(kHead);
    for (const SummaryRow& row : rows_of(group, options.most_rows))
      write_row(out, row, options, texts);
    out.write("\n");
  }
  out.write("\n");
}

}  // namespace

std::vector<SummaryGroup> groups_by_thread(const std::deque<TracedTask>& tasks) {
  constexpr uint32_t kBuckets = 256;
  std::vector<const TracedTask*> order;
  for (const TracedTask& task : tasks)
    if (task.events > 0) order.push_back(&task);
  std::ranges::sort(order, {}, [](const TracedTask* task) {
    return std::tuple(static_cast<uint32_t>(task->tid) % kBuckets, task->events, task->tid);
  });
  std::vector<SummaryGroup> groups;
  for (const TracedTask* task : order)
    groups.push_back({fmt::format("{} ({})", task->comm, task->tid), task->events,
                      task->major_faults, task->minor_faults, task->runtime_ns, task->calls});
  return groups;
}

SummaryGroup group_of_all(const std::deque<TracedTask>& tasks) {
  SummaryGroup all{.name = "total", .calls = {}};
  for (const TracedTask& task : tasks) {
    all.events += task.events;
    all.major_faults += task.major_faults;
    all.minor_faults += task.minor_faults;
    all.runtime_ns += task.runtime_ns;
    for (const auto& [key, stats] : task.calls) all.calls[key].add(stats);
  }
  return all;
}

void write_summary(Sink& out, const std::vector<SummaryGroup>& groups, uint64_t all_events,
                   const SummaryOptions& options, CallTexts& texts) {
  out.write("\n Summary of events:\n\n");
  for (const SummaryGroup& group : groups) write_group(out, group, all_events, options, texts);
}

}  // namespace sonde
