#include "kwork/work_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace sonde {
namespace {

constexpr size_t kRowNameWidth = 30, kRowTimeWidth = 17;

double ms(uint64_t ns) {
  constexpr double kMillisecond = 1e6;
  return static_cast<double>(ns) / kMillisecond;
}
std::string seconds(uint64_t ns) {
  constexpr uint64_t kSecond = 1'000'000'000;
  return fmt::format("{}.{:06}", ns / kSecond, ns % kSecond / 1000);
}
double percent(uint64_t part, uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole) * 100.0;
}

void write_line(Sink& out) {
  constexpr size_t kWidth = 128;
  out.print(" {}\n", std::string(kWidth, '-'));
}

void write_head(Sink& out, WorkView view) {
  bool is_latency = view == WorkView::kLatency;
  std::string_view sum = is_latency ? "Avg delay" : "Total Runtime";
  std::string_view longest = is_latency ? "Max delay" : "Max runtime";
  out.print("\n  {:<{}} | {:<4} | {:<13} | {:<9} | {:<13} | {:<19} | {:<19} |\n", "Kwork Name",
            kRowNameWidth, "Cpu", sum, "Count", longest, fmt::format("{} start", longest),
            fmt::format("{} end", longest));
  write_line(out);
}

void write_row(Sink& out, const Work& work, WorkView view) {
  double sum = view == WorkView::kLatency
                   ? static_cast<double>(work.total_ns) / static_cast<double>(work.count) / 1e6
                   : ms(work.total_ns);
  out.print("  {:<{}} | {:04} | {:10.3f} ms | {:9} | {:10.3f} ms | {:>{}} s | {:>{}} s |\n",
            work_label(work), kRowNameWidth, work.key.cpu, sum, work.count, ms(work.longest_ns),
            seconds(work.longest_start_ns), kRowTimeWidth, seconds(work.longest_end_ns),
            kRowTimeWidth);
}

/// Classes in the order requested, within each the highest CPU and id first: perf's order before
/// sorting.
std::vector<const Work*> in_given_order(const WorkAnalysis& analysis) {
  std::vector<const Work*> rows;
  for (WorkClass work_class : analysis.options().classes) {
    size_t begin = rows.size();
    for (const Work& work : analysis.table().all())
      if (work.key.work_class == work_class) rows.push_back(&work);
    std::ranges::sort(rows.begin() + static_cast<ptrdiff_t>(begin), rows.end(), std::greater<>(),
                      [](const Work* work) { return std::pair(work->key.cpu, work->key.id); });
  }
  return rows;
}

uint64_t value_of(const Work& work, WorkSortKey key) {
  switch (key) {
    case WorkSortKey::kId:
      return work.key.cpu;
    case WorkSortKey::kRuntime:
      return work.total_ns;
    case WorkSortKey::kAverage:
      return work.average_ns();
    case WorkSortKey::kMax:
      return work.longest_ns;
    case WorkSortKey::kCount:
      return work.count;
  }
  return 0;
}

void sort_rows(std::vector<const Work*>& rows, std::span<const WorkSortKey> sort) {
  std::ranges::stable_sort(rows, [&](const Work* a, const Work* b) {
    for (WorkSortKey key : sort) {
      if (value_of(*a, key) != value_of(*b, key)) return value_of(*a, key) > value_of(*b, key);
      if (key == WorkSortKey::kId && a->key.id != b->key.id) return a->key.id > b->key.id;
    }
    return false;
  });
}

void write_summary(Sink& out, const WorkAnalysis& analysis, std::span<const Work* const> rows) {
  uint64_t count = 0, runtime_ns = 0;
  for (const Work* work : rows) {
    count += work->count;
    if (analysis.options().view == WorkView::kRuntime) runtime_ns += work->total_ns;
  }
  uint64_t span = analysis.last_ns() - analysis.first_ns();
  out.print("  Total count            : {:9}\n", count);
  out.print("  Total runtime   (msec) : {:9.3f} ({:.3f}% load average)\n", ms(runtime_ns),
            span == 0 ? 0.0 : static_cast<double>(runtime_ns) / static_cast<double>(span));
  out.print("  Total time span (msec) : {:9.3f}\n", ms(span));
  write_line(out);
}

void write_flaws(Sink& out, const WorkAnalysis& analysis, const PipelineCounts& counts) {
  if (counts.lost > 0 && counts.records > 0)
    out.print("  INFO: {:.3f}% lost events ({} out of {}, in {} chunks)\n",
              percent(counts.lost, counts.records), counts.lost, counts.records,
              counts.lost_chunks);
  auto [raises, entries, exits] = analysis.table().without_partner();
  uint64_t all = raises + entries + exits;
  if (all > 0 && counts.records > 0)
    out.print("  INFO: {:.3f}% skipped events ({} including {} raise, {} entry, {} exit)\n",
              percent(all, counts.records), all, raises, entries, exits);
}

}  // namespace

Result<std::vector<WorkSortKey>> parse_work_sort(std::string_view keys) {
  std::vector<WorkSortKey> sort;
  for (std::string_view raw : split(keys, ',')) {
    for (std::string_view word : split(raw, ' ')) {
      if (word.empty()) continue;
      if (word == "id")
        sort.push_back(WorkSortKey::kId);
      else if (word == "runtime")
        sort.push_back(WorkSortKey::kRuntime);
      else if (word == "avg")
        sort.push_back(WorkSortKey::kAverage);
      else if (word == "max")
        sort.push_back(WorkSortKey::kMax);
      else if (word == "count")
        sort.push_back(WorkSortKey::kCount);
      else
        return fail(ErrorCode::kUsage, "Error: Unknown --sort key: `{}'", word);
    }
  }
  return sort;
}

void write_work_report(Sink& out, const WorkAnalysis& analysis, std::span<const WorkSortKey> sort,
                       bool with_summary, const PipelineCounts& counts) {
  std::vector<const Work*> rows = in_given_order(analysis);
  sort_rows(rows, sort);
  std::erase_if(rows, [](const Work* work) { return work->count == 0; });
  write_head(out, analysis.options().view);
  for (const Work* work : rows) write_row(out, *work, analysis.options().view);
  write_line(out);
  if (with_summary) write_summary(out, analysis, rows);
  write_flaws(out, analysis, counts);
  out.put('\n');
}

}  // namespace sonde
