#include "lock/lock_tables.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/printing/csv.h"

namespace sonde {
namespace {

constexpr uint64_t kUs = 1000, kMs = 1'000'000, kSecond = 1'000'000'000;

std::string value_text(const LockColumn& column, const LockRow& row) {
  uint64_t value = column.value(row);
  return column.is_time ? lock_time_text(value, column.width)
                        : fmt::format("{:{}}", value, column.width);
}

std::string_view cut(std::string_view name, std::string& buffer) {
  constexpr size_t kWidth = 20, kKept = 16;
  if (name.size() < kWidth) return name;
  buffer = std::string(name.substr(0, kKept)) + "...";
  return buffer;
}

/// The text of the last columns.
struct What {
  std::string_view first, second;
};
What headings_of(LockGrouping grouping) {
  switch (grouping) {
    case LockGrouping::kThread:
      return {"pid", "comm"};
    case LockGrouping::kOwner:
      return {"pid", "owner"};
    case LockGrouping::kLock:
      return {"address", "symbol"};
    case LockGrouping::kCgroup:
      return {"", "cgroup"};
    default:
      return {"type", "caller"};
  }
}

void write_headings(Sink& out, const LockTableStyle& style) {
  What what = headings_of(style.grouping);
  if (!style.separator.empty()) {
    out.write("# output: ");
    for (const LockColumn* column : style.columns)
      out.print("{}{} ", column->heading, style.separator);
    if (!what.first.empty()) out.print("{}{} ", what.first, style.separator);
    out.print("{}", what.second);
    if (style.grouping == LockGrouping::kLock) out.print("{} type", style.separator);
    out.put('\n');
    return;
  }
  for (const LockColumn* column : style.columns)
    out.print("{:>{}} ", column->heading, column->width);
  if (style.grouping == LockGrouping::kCgroup)
    out.print("  {}\n\n", what.second);
  else
    out.print("  {:>{}}   {}\n\n", what.first, style.grouping == LockGrouping::kLock ? 16 : 10,
              what.second);
}

std::string thread_of(const LockRow& row, const LockTableStyle& style) {
  auto tid = static_cast<int32_t>(row.key);
  // Who waited may have had no number any more, as a task that had ended.
  if (tid == -1 && style.grouping == LockGrouping::kOwner) return "Unknown";
  return style.thread_name ? style.thread_name(static_cast<uint32_t>(tid)) : row.name;
}

std::string lock_of(const LockRow& row, const LockTableStyle& style) {
  return style.lock_name ? style.lock_name(row.key) : row.name;
}

void write_values(Sink& out, const LockRow& row, const LockTableStyle& style) {
  const std::string& comma = style.separator;
  auto cell = [&](const std::string& name) { return csv_name(name, comma, style.quotes_formulas); };
  for (const LockColumn* column : style.columns) out.print("{}{} ", column->value(row), comma);
  switch (style.grouping) {
    case LockGrouping::kThread:
    case LockGrouping::kOwner:
      out.print("{}{} {}", static_cast<int32_t>(row.key), comma, cell(thread_of(row, style)));
      break;
    case LockGrouping::kLock:
      out.print("{:x}{} {}{} {}", row.key, comma, cell(lock_of(row, style)), comma,
                style.type_name(row.flags));
      break;
    case LockGrouping::kCgroup:
      out.write(cell(row.name));
      break;
    case LockGrouping::kCaller:
      out.print("{}{} {}", style.type_name(row.flags), comma, cell(row.name));
      break;
  }
  out.put('\n');
}

void write_row(Sink& out, const LockRow& row, const LockTableStyle& style) {
  for (const LockColumn* column : style.columns) out.print("{} ", value_text(*column, row));
  switch (style.grouping) {
    case LockGrouping::kThread:
    case LockGrouping::kOwner:
      out.print("  {:10}   {}\n", static_cast<int32_t>(row.key), thread_of(row, style));
      break;
    case LockGrouping::kLock:
      out.print("  {:016x}   {} ({})\n", row.key, lock_of(row, style), style.type_name(row.flags));
      break;
    case LockGrouping::kCgroup:
      out.print("  {}\n", row.name);
      break;
    case LockGrouping::kCaller:
      out.print("  {:>10}   {}\n", style.type_name(row.flags), row.name);
      break;
  }
  if (!style.stacks) return;
  for (const std::string& frame : row.frames) out.print("\t\t\t{}\n", frame);
  for (uint64_t address : row.stack) {
    // The end of the user stack.
    if (address == 0) break;
    out.print("\t\t\t{:#x}  {}\n", address, style.address_name(address));
  }
}

}  // namespace

std::string lock_time_text(uint64_t time_ns, size_t width) {
  struct Unit {
    uint64_t ns;
    std::string_view name;
  };
  constexpr std::array kUnits{Unit{3600 * kSecond, "h "}, Unit{60 * kSecond, "m "},
                              Unit{kSecond, "s "}, Unit{kMs, "ms"}, Unit{kUs, "us"}};
  width -= 3;
  for (const Unit& unit : kUnits)
    if (time_ns >= unit.ns)
      // In single precision, because perf rounds that way.
      return fmt::format(
          "{:{}.2f} {}",
          static_cast<double>(static_cast<float>(time_ns) / static_cast<float>(unit.ns)), width,
          unit.name);
  return fmt::format("{:{}} ns", time_ns, width);
}

size_t write_lock_report(Sink& out, const std::vector<LockRow>& rows, const LockTableStyle& style) {
  if (!style.quiet) {
    out.print("{:>20} ", "Name");
    for (const LockColumn* column : style.columns)
      out.print("{:>{}} ", column->heading, column->width);
    out.write("\n\n");
  }
  uint64_t shown = 0;
  size_t seen = 0;
  std::string buffer;
  for (; seen < rows.size() && shown < style.most_rows; ++seen) {
    const LockRow& row = rows[seen];
    if (row.acquired == 0) continue;
    ++shown;
    std::string thread;
    bool is_thread = style.grouping == LockGrouping::kThread;
    if (is_thread) thread = thread_of(row, style);
    out.print("{:>20} ", is_thread ? std::string_view(thread) : cut(row.name, buffer));
    for (const LockColumn* column : style.columns) out.print("{} ", value_text(*column, row));
    out.put('\n');
  }
  return seen;
}

size_t write_contention(Sink& out, const std::vector<LockRow>& rows, const LockTableStyle& style) {
  if (!style.quiet) write_headings(out, style);
  size_t shown = std::min<size_t>(rows.size(), style.most_rows);
  for (const LockRow& row : std::span(rows).first(shown)) {
    if (style.separator.empty())
      write_row(out, row, style);
    else
      write_values(out, row, style);
  }
  return shown;
}

void write_broken(Sink& out, std::span<const LockRow> rows, const BrokenLockEvents& broken,
                  bool always, std::string_view separator) {
  auto bad = static_cast<size_t>(std::ranges::count(rows, true, &LockRow::is_broken));
  if (rows.empty() || (bad == 0 && !always)) return;
  const std::array by_kind{
      std::pair{"acquire", broken.acquire}, std::pair{"acquired", broken.acquired},
      std::pair{"contended", broken.contended}, std::pair{"release", broken.release}};
  if (!separator.empty()) {
    out.print("# debug: total={}{} bad={}", rows.size(), separator, bad);
    for (auto [name, count] : by_kind) out.print("{} bad_{}={}", separator, name, count);
    out.put('\n');
    return;
  }
  out.write("\n=== output for debug===\n\n");
  out.print("bad: {}, total: {}\n", bad, rows.size());
  out.print("bad rate: {:.2f} %\n",
            100.0 * static_cast<double>(bad) / static_cast<double>(rows.size()));
  out.write("histogram of events caused bad sequence\n");
  for (auto [name, count] : by_kind) out.print(" {:>10}: {}\n", name, count);
}

void write_lock_threads(Sink& out, const std::vector<uint32_t>& tids,
                        const std::function<std::string(uint32_t)>& name) {
  out.print("{:>10}: comm\n", "Thread ID");
  for (uint32_t tid : tids) out.print("{:10}: {}\n", static_cast<int32_t>(tid), name(tid));
}

void write_lock_map(Sink& out, std::vector<LockRow> rows) {
  std::ranges::sort(rows, [](const LockRow& a, const LockRow& b) {
    return std::tie(a.name, a.key) < std::tie(b.name, b.key);
  });
  out.write("Address of instance: name of class\n");
  for (const LockRow& row : rows) out.print(" {:#x}: {}\n", row.key, row.name);
}

}  // namespace sonde
