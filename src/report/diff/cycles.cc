#include "report/diff/cycles.h"

#include <cmath>
#include <map>
#include <tuple>

#include "replay/branches/blocks.h"
#include "replay/branches/branch_events.h"

namespace sonde::diff {
namespace {

using report::EventReport;

constexpr size_t kBlockWidth = 70, kNoiseWidth = 17;

/// The blocks of one recording's event.
struct Blocks {
  const DiffInput* input = nullptr;
  std::vector<Block> all;
  /// By names of object and function, as the baseline has them, and offsets in it.
  using Key = std::tuple<std::string, std::string, uint64_t, uint64_t>;
  std::map<Key, size_t> by_name;

  [[nodiscard]] Key key_of(const Block& block) const {
    SymbolInfo symbol = input->session().symbolizer().info(block.symbol);
    const Dso& dso = input->session().machine().dsos()[block.dso];
    const Counterparts& others = input->counterparts();
    return {others.in_before(NameKind::kObject, dso.short_name),
            others.in_before(NameKind::kFunction, std::string(symbol.name)),
            block.start - symbol.start, block.end - symbol.start};
  }
};

Blocks blocks_of(const DiffInput& input, const EventReport* event) {
  Blocks blocks{.input = &input, .all = {}, .by_name = {}};
  if (event == nullptr) return blocks;
  auto wants = [&](EventId id) {
    return std::ranges::find(event->members, id) != event->members.end();
  };
  blocks.all = sum_blocks(input.session(), wants).blocks;
  for (size_t i = 0; i < blocks.all.size(); ++i)
    blocks.by_name.try_emplace(blocks.key_of(blocks.all[i]), i);
  return blocks;
}

/// A block of the baseline, and the same one of the other recordings; null where there is none.
struct Matched {
  const Block* block;
  std::vector<const Block*> sides;  // of side 1, 2 …

  [[nodiscard]] std::optional<int64_t> change(size_t side) const {
    const Block* other = sides[side - 1];
    if (other == nullptr) return std::nullopt;
    return static_cast<int64_t>(other->average()) - static_cast<int64_t>(block->average());
  }
  /// Blocks that a recording does not have come last.
  [[nodiscard]] int64_t weight(size_t side) const {
    auto value = change(side);
    return value ? std::abs(*value) : -1;
  }
};

class CyclesTable {
 public:
  CyclesTable(const std::vector<std::unique_ptr<DiffInput>>& inputs, const EventReport& event,
              const DiffOptions& options)
      : inputs_(inputs), event_(event), options_(options) {
    blocks_.push_back(blocks_of(*inputs[0], &event));
    for (size_t side = 1; side < inputs.size(); ++side)
      blocks_.push_back(blocks_of(*inputs[side], inputs[side]->find(inputs[0]->desc(event).attr)));
  }

  view::Table make() {
    std::map<uint32_t, std::vector<Matched>> by_symbol = match();
    make_columns(by_symbol);
    const TableRows& rows = *event_.data->rows;
    for (uint32_t row : rows.order()) {
      const Frame& frame = frame_of_row(*event_.data, rows.any(row));
      auto found = by_symbol.find(frame.symbol.value);
      if (rows.hidden(row) || !frame.symbol.valid() || found == by_symbol.end()) continue;
      for (const Matched& block : found->second) add_row(row, block);
      by_symbol.erase(found);
    }
    return std::move(table_);
  }

 private:
  [[nodiscard]] std::map<uint32_t, std::vector<Matched>> match() const {
    std::map<uint32_t, std::vector<Matched>> found;
    for (const Block& block : blocks_[0].all) {
      Matched matched{.block = &block, .sides = {}};
      Blocks::Key key = blocks_[0].key_of(block);
      for (size_t side = 1; side < blocks_.size(); ++side) {
        auto same = blocks_[side].by_name.find(key);
        matched.sides.push_back(
            same == blocks_[side].by_name.end() ? nullptr : &blocks_[side].all[same->second]);
      }
      if (std::ranges::any_of(matched.sides, [](const Block* other) { return other != nullptr; }))
        found[block.symbol.value].push_back(std::move(matched));
    }
    size_t by = std::max<size_t>(options_.difference.sort_side, 1);
    for (auto& [symbol, blocks] : found) {
      std::ranges::sort(blocks, {}, [](const Matched& one) { return one.block->start; });
      std::ranges::stable_sort(blocks, std::greater(),
                               [by](const Matched& one) { return one.weight(by); });
    }
    return found;
  }

  void make_columns(const std::map<uint32_t, std::vector<Matched>>& blocks) {
    view::Column& baseline = add_column("baseline", "Baseline", 0);
    if (options_.separator.empty()) baseline.kind = view::Column::Kind::kPercent;
    for (size_t side = 1; side < inputs_.size(); ++side) {
      add_column("cycles_diff", title_of("[Program Block Range] Cycles Diff", side), kBlockWidth)
          .right_aligned = true;
      if (options_.cycles_histogram)
        add_column("noise", aligned(title_of("stddev/Hist", side)), kNoiseWidth);
    }
    size_t object = 0, symbol = 0;
    for (const auto& [id, list] : blocks) {
      object = std::max(object, dso_of(*list[0].block).size());
      symbol = std::max(symbol, symbol_of(*list[0].block).size());
    }
    add_column("dso", "Shared Object", object);
    add_column("symbol", "Symbol", symbol);
  }
  view::Column& add_column(std::string_view name, std::string title, size_t width) {
    view::Column column;
    column.name = name;
    column.width = std::max(title.size(), width);
    column.value_width = column.width;
    column.title = std::move(title);
    return table_.columns.emplace_back(std::move(column));
  }
  [[nodiscard]] std::string title_of(std::string_view title, size_t side) const {
    return inputs_.size() > 2 ? fmt::format("{}/{}", title, side) : std::string(title);
  }

  void add_row(uint32_t row, const Matched& matched) {
    uint64_t total = total_of(event_, options_.relative);
    auto period = static_cast<double>(event_.data->rows->weight(row, 0, Weight::kOverhead));
    double percent = total == 0 ? 0 : 100 * period / static_cast<double>(total);
    if (table_.columns[0].kind == view::Column::Kind::kPercent) {
      table_.add_percent(percent);
    } else {
      fmt::format_to(std::back_inserter(table_.text_buffer()), "{:.2f}%", percent);
      table_.add_text();
    }
    for (size_t side = 1; side < inputs_.size(); ++side) {
      auto change = matched.change(side);
      if (change) append_change(*matched.block, *change);
      table_.add_text();
      if (!options_.cycles_histogram) continue;
      if (change)
        table_.text_buffer() +=
            aligned(noise_text(cycle_noise(*matched.block, *matched.sides[side - 1])));
      table_.add_text();
    }
    table_.text_buffer() += dso_of(*matched.block);
    table_.add_text();
    table_.text_buffer() += symbol_of(*matched.block);
    table_.add_text();
    table_.end_row();
  }
  void append_change(const Block& block, int64_t change) {
    const Session& session = inputs_[0]->session();
    std::string lines = block_lines(session, block);
    SymbolInfo symbol = session.symbolizer().info(block.symbol);
    if (lines.empty())
      lines = fmt::format("{}+{:#x} -> {:#x}", symbol.name, block.start - symbol.start,
                          block.end - symbol.start);
    fmt::format_to(std::back_inserter(table_.text_buffer()), "[{}] {:4}", lines, change);
  }
  /// To the right, by characters: bars are three bytes each.
  [[nodiscard]] std::string aligned(std::string text) const {
    auto is_first_byte = [](char byte) { return (byte & 0xc0) != 0x80; };
    auto shown = static_cast<size_t>(std::ranges::count_if(text, is_first_byte));
    if (options_.separator.empty() && shown < kNoiseWidth) text.insert(0, kNoiseWidth - shown, ' ');
    return text;
  }

  [[nodiscard]] std::string dso_of(const Block& block) const {
    return inputs_[0]->session().machine().dsos()[block.dso].short_name;
  }
  [[nodiscard]] std::string symbol_of(const Block& block) const {
    const Dso& dso = inputs_[0]->session().machine().dsos()[block.dso];
    return fmt::format("[{}] {}", dso.is_kernel_side ? 'k' : '.',
                       inputs_[0]->session().symbolizer().info(block.symbol).name);
  }

  const std::vector<std::unique_ptr<DiffInput>>& inputs_;
  const EventReport& event_;
  const DiffOptions& options_;
  std::vector<Blocks> blocks_;  // by side
  view::Table table_;
};

}  // namespace

view::Table make_cycles_table(const std::vector<std::unique_ptr<DiffInput>>& inputs,
                              const EventReport& event, const DiffOptions& options) {
  return CyclesTable(inputs, event, options).make();
}

std::string_view option_without_cycles(const DiffOptions& o) {
  const report::GivenOption options[] = {
      {o.sort != DiffOptions().sort, "--sort"},
      {o.show_period, "--period"},
      {o.show_formula, "--formula"},
      {o.show_noise, "--noise"},
      {o.only_above_noise, "--above-noise"},
      {!o.comms.empty(), "--comms"},
      {!o.pids.empty(), "--pid"},
      {!o.tids.empty(), "--tid"},
      {!o.time.empty(), "--time"},
  };
  return report::first_given(options);
}

Result<> check_cycles(const DiffInput& input) {
  if (has_branch_stacks(input.session().events())) return {};
  return fail(ErrorCode::kNotFound,
              "{} has no branch stacks: record -b takes them, on processors that keep them",
              input.path());
}

CycleNoise cycle_noise(const Block& before, const Block& after) {
  CycleNoise noise;
  size_t passes = std::min<uint64_t>({before.longest.passes, after.longest.passes, Block::kKept});
  double sum = 0, squares = 0;
  for (size_t i = 0; i < passes; ++i) {
    auto [least, most] = std::minmax(before.longest.first[i], after.longest.first[i]);
    noise.distances.push_back(most - least);
    sum += most - least;
  }
  if (passes < 2 || sum == 0) return noise;
  auto count = static_cast<double>(passes);
  double mean = sum / count;
  for (uint64_t distance : noise.distances) {
    double off = static_cast<double>(distance) - mean;
    squares += off * off;
  }
  noise.percent = 100 * std::sqrt(squares / (count - 1) / count) / mean;
  return noise;
}

std::string noise_text(const CycleNoise& noise) {
  constexpr std::string_view kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text = fmt::format("±{:5.1f}%", noise.percent);
  const std::vector<uint64_t>& all = noise.distances;
  if (all.size() < 2 || std::ranges::max(all) == 0) return text;
  text += ' ';
  auto [least, most] = std::ranges::minmax(all);
  for (uint64_t distance : all)
    text += kBars[most == least ? 0 : (distance - least) * (std::size(kBars) - 1) / (most - least)];
  return text;
}

}  // namespace sonde::diff
