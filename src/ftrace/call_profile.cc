#include "ftrace/call_profile.h"

#include <algorithm>

namespace sonde {
namespace {

double us(uint64_t ns) {
  constexpr double kNsPerUs = 1000;
  return static_cast<double>(ns) / kNsPerUs;
}

double average_us(const CallProfile::Row& row) {
  return us(row.total_ns) / static_cast<double>(row.count);
}

}  // namespace

Result<CallSort> parse_call_sort(std::string_view word) {
  if (word == "total") return CallSort::kTotal;
  if (word == "avg") return CallSort::kAverage;
  if (word == "max") return CallSort::kMax;
  if (word == "count") return CallSort::kCount;
  if (word == "name") return CallSort::kName;
  return fail(ErrorCode::kUsage, "Error: unknown sort key '{}': total, avg, max, count, name",
              word);
}

void CallProfile::add(std::string_view name, uint64_t duration_ns) {
  auto [place, is_new] = places_.try_emplace(std::string(name), rows_.size());
  if (is_new) rows_.push_back({.name = std::string(name)});
  Row& row = rows_[place->second];
  ++row.count;
  row.total_ns += duration_ns;
  row.longest_ns = std::max(row.longest_ns, duration_ns);
}

std::vector<CallProfile::Row> CallProfile::sorted(CallSort sort) const {
  std::vector<Row> rows = rows_;
  std::ranges::sort(rows, {}, &Row::name);
  auto by = [&](auto value) { std::ranges::stable_sort(rows, std::ranges::greater(), value); };
  switch (sort) {
    case CallSort::kTotal:
      by(&Row::total_ns);
      break;
    case CallSort::kAverage:
      by(average_us);
      break;
    case CallSort::kMax:
      by(&Row::longest_ns);
      break;
    case CallSort::kCount:
      by(&Row::count);
      break;
    case CallSort::kName:
      break;
  }
  return rows;
}

void write_call_profile(Sink& out, const std::vector<CallProfile::Row>& rows) {
  out.print("# {:>10} {:>10} {:>10} {:>10}   {}\n", "Total (us)", "Avg (us)", "Max (us)", "Count",
            "Function");
  for (const CallProfile::Row& row : rows)
    out.print("{:12.3f} {:10.3f} {:10.3f} {:10}   {}\n", us(row.total_ns), average_us(row),
              us(row.longest_ns), row.count, row.name.empty() ? "[unknown]" : row.name);
}

}  // namespace sonde
