#include "report/blocks.h"

#include <fmt/format.h>

namespace sonde::report {
namespace {

/// "607", "12.3K", "1.7M".
std::string short_cycles(uint64_t cycles) {
  constexpr double kThousand = 1000, kMillion = 1000 * kThousand;
  auto number = static_cast<double>(cycles);
  if (number >= kMillion) return fmt::format("{:.1f}M", number / kMillion);
  return number >= kThousand ? fmt::format("{:.1f}K", number / kThousand)
                             : fmt::format("{}", cycles);
}

double share(double part, double all) {
  return all > 0 ? 100 * part / all : 0;
}

std::string percent_text(double part, double all) {
  return fmt::format("{:.2f}%", share(part, all));
}

/// "p.c:4 -> p.c:5", or the addresses in the function where lines are not known.
std::string range_of(const Session& session, const Block& block) {
  if (std::string lines = block_lines(session, block); !lines.empty())
    return fmt::format("[{}]", lines);
  SymbolInfo symbol = session.symbolizer().info(block.symbol);
  return fmt::format("[{}+{:#x} -> {:#x}]", symbol.name, block.start - symbol.start,
                     block.end - symbol.start);
}

}  // namespace

view::Table block_table(const Session& session, const BlockSums& sums, double percent,
                        bool counts) {
  view::Table table;
  struct Title {
    const char* name;
    const char* title;
    size_t width;
  };
  const Title titles[] = {{"sampled_cycles_percent", "Sampled Cycles%", 15},
                          {"sampled_cycles", "Sampled Cycles", 14},
                          {"average_cycles_percent", "Avg Cycles%", 11},
                          {"average_cycles", "Avg Cycles", 10},
                          {"branch_counter", "Branch Counter", 22},
                          {"block", "[Program Block Range]", 70},
                          {"dso", "Shared Object", 20}};
  constexpr size_t kCounters = 4;  // the column, if there are any
  bool has_counters = !sums.counters.empty();
  BranchCounters counters(session.recording());
  for (const Title& title : titles) {
    if (&title == &titles[kCounters] && !has_counters) continue;
    table.columns.push_back({.name = title.name,
                             .title = title.title,
                             .kind = view::Column::Kind::kText,
                             .width = title.width,
                             .parts = {},
                             .right_aligned = true});
  }
  uint64_t averages = 0;
  for (const Block& block : sums.blocks) averages += block.average();
  auto total = static_cast<double>(sums.total_cycles);
  for (const Block& block : sums.blocks) {
    auto cycles = static_cast<double>(block.cycles);
    if (share(cycles, total) < percent) continue;
    uint64_t average = block.average();
    const std::string texts[] = {
        percent_text(cycles, total),
        short_cycles(block.cycles),
        percent_text(static_cast<double>(average), static_cast<double>(averages)),
        short_cycles(average),
        has_counters ? counters.text(sums.counters, block.counted, counts) : std::string(),
        range_of(session, block),
        std::string(session.machine().dsos()[block.dso].short_name)};
    for (const std::string& text : texts) {
      if (&text == &texts[kCounters] && !has_counters) continue;
      table.text_buffer() += text;
      table.add_text();
    }
    table.end_row();
  }
  return table;
}

void write_counter_legend(Sink& out, const Session& session) {
  std::string legend = BranchCounters(session.recording()).legend();
  if (!legend.empty()) out.write_lines(legend + "#\n");
}

std::string_view option_without_blocks(const ReportOptions& o) {
  const GivenOption options[] = {
      {o.sort.has_value(), "--sort"},
      {o.fields.has_value(), "--fields"},
      {o.call_graph.given, "--call-graph"},
      {o.parent.has_value(), "--parent"},
      {o.exclude_other, "--exclude-other"},
      {o.hierarchy, "--hierarchy"},
      {o.branch_history, "--branch-history"},
      {o.memory_mode, "--mem-mode"},
      {o.show_intervals, "--confidence"},
      {o.show_samples, "--show-nr-samples"},
      {o.show_period, "--show-total-period"},
      {!o.comms.empty(), "--comms"},
      {!o.dsos.empty(), "--dsos"},
      {!o.symbols.empty(), "--symbols"},
      {!o.pids.empty(), "--pid"},
      {!o.tids.empty(), "--tid"},
      {o.symbol_filter.has_value(), "--symbol-filter"},
      {o.hide_unresolved, "--hide-unresolved"},
      {!o.time.empty(), "--time"},
      {o.socket >= 0, "--socket-filter"},
      {!o.parallelism.empty(), "--parallelism"},
      {!o.gate.on.empty() || !o.gate.off.empty(), "--switch-on"},
      {o.browser.value_or(false), "--tui"},
  };
  return first_given(options);
}

}  // namespace sonde::report
