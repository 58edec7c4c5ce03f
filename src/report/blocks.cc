#include "report/blocks.h"

#include <algorithm>
#include <map>
#include <ranges>

#include "profile/session_input.h"

namespace sonde::report {
namespace {

/// What is known of the blocks that end at one address.
struct Ending {
  DsoId dso;
  uint64_t start = 0;  // of the longest
  bool has_start = false;
  uint64_t cycles = 0, passes = 0;
};

class BlockCounter {
 public:
  explicit BlockCounter(const Session& session) : session_(session), input_(session) {}

  void add(size_t index, bool has_all_branches);
  BlockSums finish() &&;

 private:
  void add_block(const Frame* start, const Frame& end, uint64_t cycles);

  const Session& session_;
  SessionInput input_;
  Sample sample_;
  std::map<std::pair<uint32_t, uint64_t>, Ending> endings_;  // by symbol and address
  uint64_t total_ = 0;
};

/// Branches come newest first, each with the cycles since the one before it. `has_all_branches`:
/// otherwise code between two of them may have had others.
void BlockCounter::add(size_t index, bool has_all_branches) {
  sample_ = Sample();
  if (!session_.decode(index, sample_)) return;
  size_t count = sample_.branch_count();
  if (count == 0 || sample_.branch(0).cycles() == 0) return;
  std::optional<Frame> start;
  for (size_t i = count; i-- > 0;) {
    abi::BranchEntry branch = sample_.branch(i);
    Frame end = input_.resolve_anywhere(index, branch.from);
    add_block(start && has_all_branches ? &*start : nullptr, end, branch.cycles());
    start = input_.resolve_anywhere(index, branch.to);
    total_ += branch.cycles();
  }
}

void BlockCounter::add_block(const Frame* start, const Frame& end, uint64_t cycles) {
  if (cycles == 0 || !end.symbol.valid()) return;
  Ending& known = endings_[{end.symbol.value, end.address}];
  known.dso = end.dso;
  known.cycles += cycles;
  ++known.passes;
  if (start == nullptr || start->symbol != end.symbol || start->address >= end.address) return;
  if (known.has_start && known.start <= start->address) return;
  known.has_start = true;
  known.start = start->address;
}

BlockSums BlockCounter::finish() && {
  BlockSums sums{.blocks = {}, .total_cycles = total_};
  for (const auto& [place, ending] : endings_) {
    SymbolId symbol;
    symbol.value = place.first;
    // Where no start is known, the block is all of the function up to its end.
    uint64_t start = ending.has_start ? ending.start : session_.symbolizer().info(symbol).start;
    sums.blocks.push_back({.dso = ending.dso,
                           .symbol = symbol,
                           .start = start,
                           .end = place.second,
                           .cycles = ending.cycles,
                           .passes = ending.passes});
  }
  std::ranges::stable_sort(sums.blocks, std::greater(), &Block::cycles);
  return sums;
}

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
  std::string first = session.symbolizer().srcline(block.dso, block.start);
  std::string last = session.symbolizer().srcline(block.dso, block.end);
  constexpr std::string_view kNoLine = "??:0";
  // Without debug information, a line is the function's name and an offset.
  auto is_line = [&](const std::string& text) {
    return text != kNoLine && text.find(':') != std::string::npos;
  };
  if (is_line(first) && is_line(last)) return fmt::format("[{} -> {}]", first, last);
  SymbolInfo symbol = session.symbolizer().info(block.symbol);
  return fmt::format("[{}+{:#x} -> {:#x}]", symbol.name, block.start - symbol.start,
                     block.end - symbol.start);
}

}  // namespace

BlockSums sum_blocks(const Session& session, std::span<const EventId> events) {
  BlockCounter counter(session);
  const SampleColumns& samples = session.samples();
  for (size_t i = 0; i < samples.size(); ++i) {
    EventId event(size_t{samples.event[i]});
    if (std::ranges::find(events, event) == events.end()) continue;
    uint64_t types = session.events()[event].attr.branch_sample_type;
    counter.add(i, (types & abi::kBranchAny) != 0);
  }
  return std::move(counter).finish();
}

view::Table block_table(const Session& session, const BlockSums& sums, double percent) {
  view::Table table;
  struct Title {
    const char* name;
    const char* title;
    size_t width;
  };
  constexpr Title kTitles[] = {{"sampled_cycles_percent", "Sampled Cycles%", 15},
                               {"sampled_cycles", "Sampled Cycles", 14},
                               {"average_cycles_percent", "Avg Cycles%", 11},
                               {"average_cycles", "Avg Cycles", 10},
                               {"block", "[Program Block Range]", 70},
                               {"dso", "Shared Object", 20}};
  for (const Title& title : kTitles)
    table.columns.push_back({.name = title.name,
                             .title = title.title,
                             .kind = view::Column::Kind::kText,
                             .width = title.width,
                             .right_aligned = true});
  uint64_t averages = 0;
  for (const Block& block : sums.blocks) averages += block.cycles / block.passes;
  auto total = static_cast<double>(sums.total_cycles);
  for (const Block& block : sums.blocks) {
    auto cycles = static_cast<double>(block.cycles);
    if (share(cycles, total) < percent) continue;
    uint64_t average = block.cycles / block.passes;
    const std::string texts[] = {
        percent_text(cycles, total),
        short_cycles(block.cycles),
        percent_text(static_cast<double>(average), static_cast<double>(averages)),
        short_cycles(average),
        range_of(session, block),
        std::string(session.machine().dsos()[block.dso].short_name)};
    for (const std::string& text : texts) {
      table.text_buffer() += text;
      table.add_text();
    }
    table.end_row();
  }
  return table;
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
