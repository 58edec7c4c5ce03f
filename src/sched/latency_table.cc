#include "sched/latency_table.h"

#include <string>

namespace sonde {
namespace {

constexpr double kNsPerMs = 1e6;

double ms(uint64_t time_ns) {
  return static_cast<double>(time_ns) / kNsPerMs;
}
double percent(uint64_t part, uint64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}
std::string seconds(uint64_t time_ns) {
  constexpr uint64_t kNsPerSecond = 1'000'000'000, kNsPerUs = 1000;
  return fmt::format("{}.{:06}", time_ns / kNsPerSecond, time_ns % kNsPerSecond / kNsPerUs);
}
std::string line(size_t length) {
  return " " + std::string(length, '-') + "\n";
}

/// Idle time and tasks that never got a CPU are not shown.
bool is_shown(const TaskLatency& row) {
  constexpr std::string_view kIdle = "swapper";
  return row.delays > 0 && row.name != kIdle;
}

void write_row(Sink& out, const TaskLatency& row) {
  std::string name = row.merged > 1 ? fmt::format("  {}:({}) ", row.name, row.merged)
                                    : fmt::format("  {}:{} ", row.name, row.tid);
  out.print(
      "{:<24}|{:11.3f} ms |{:9} | avg:{:8.3f} ms | max:{:8.3f} ms | max start: {:>12} s | "
      "max end: {:>12} s\n",
      name, ms(row.runtime_ns), row.delays, ms(row.average_ns()), ms(row.longest_ns),
      seconds(row.longest_start_ns), seconds(row.longest_end_ns));
}

}  // namespace

void write_flaws(Sink& out, const BadSchedEvents& bad, const PipelineCounts& counts) {
  if (bad.unordered_times > 0 && bad.times > 0)
    out.print("  INFO: {:.3f}% unordered timestamps ({} out of {})\n",
              percent(bad.unordered_times, bad.times), bad.unordered_times, bad.times);
  if (counts.lost > 0 && counts.records > 0)
    out.print("  INFO: {:.3f}% lost events ({} out of {}, in {} chunks)\n",
              percent(counts.lost, counts.records), counts.lost, counts.records,
              counts.lost_chunks);
  if (bad.wrong_switches > 0 && bad.times > 0)
    out.print("  INFO: {:.3f}% context switch bugs ({} out of {}){}\n",
              percent(bad.wrong_switches, bad.times), bad.wrong_switches, bad.times,
              counts.lost > 0 ? " (due to lost events?)" : "");
}

void write_delays(Sink& out, const std::vector<TaskLatency>& rows) {
  DelayHistogram all;
  for (const TaskLatency& row : rows)
    if (is_shown(row)) all.add(row.histogram);
  write_histogram(out, all);
  out.put('\n');
}

void write_latencies(Sink& out, const std::vector<TaskLatency>& rows, const BadSchedEvents& bad,
                     const PipelineCounts& counts) {
  constexpr size_t kWide = 139, kNarrow = 113, kTotal = 51;
  out.put('\n');
  out.write(line(kWide));
  out.write(
      "  Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay ms    | "
      "Max delay start           | Max delay end          |\n");
  out.write(line(kWide));
  uint64_t runtime_ns = 0, delays = 0;
  for (const TaskLatency& row : rows) {
    if (!is_shown(row)) continue;
    write_row(out, row);
    runtime_ns += row.runtime_ns;
    delays += row.delays;
  }
  out.write(line(kNarrow));
  out.print("  TOTAL:                |{:11.3f} ms |{:9} |\n", ms(runtime_ns), delays);
  out.write(line(kTotal));
  write_flaws(out, bad, counts);
  out.put('\n');
}

}  // namespace sonde
