#include "report/diff/table.h"

#include <fmt/format.h>

#include <limits>

#include "report/diff/worth.h"

namespace sonde::diff {
namespace {

using report::EventReport;

constexpr size_t kPeriodWidth = 14;
constexpr std::string_view kWeightedTitle = "Weighted diff";
constexpr size_t kFormulaWidth = 70;

class TableBuilder {
 public:
  TableBuilder(const std::vector<std::unique_ptr<DiffInput>>& inputs, const EventReport& event,
               const DiffOptions& options)
      : inputs_(inputs), options_(options) {
    events_.push_back(&event);
    for (size_t i = 1; i < inputs.size(); ++i)
      events_.push_back(inputs[i]->find(inputs[0]->desc(event).attr));
  }

  Result<view::Table> make() {
    TRY(match());
    RowDifference(options_.difference, totals_).sort(rows_);
    if (options_.baseline_only) keep_baseline();
    if (options_.only_above_noise) keep_above_noise();
    make_columns();
    for (const MatchedRow& row : rows_)
      if (!row.hidden) add_row(row);
    return std::move(table_);
  }

 private:
  Result<> match() {
    std::vector<MatchedSide> sides;
    for (const EventReport* event : events_) {
      MatchedSide side;
      if (event != nullptr) {
        side = {event->data->rows.get(),
                &event->data->keys,
                {},
                &inputs_[sides.size()]->counterparts()};
        for (size_t key : event->data->key_of_choice)
          if (key != SIZE_MAX) side.compared.push_back(key);
        if (side.compared.size() != compared_keys())
          return fail(ErrorCode::kFailed, "-s {}: the recordings do not have the same fields",
                      options_.sort);
      }
      sides.push_back(std::move(side));
      totals_.push_back(event == nullptr ? 0 : total_of(*event, options_.relative));
      sampled_.push_back(event == nullptr
                             ? SampledTotal()
                             : report::sampled_total(*event->data, options_.relative, 0));
    }
    rows_ = match_rows(sides);
    find_shown_total();
    if (options_.show_noise || options_.only_above_noise)
      for (size_t side = 1; side < events_.size(); ++side)
        worth_.emplace_back(rows_, std::pair(totals_[0], totals_[side]),
                            std::pair(sampled_[0], sampled_[side]), side);
    return {};
  }

  [[nodiscard]] size_t compared_keys() const {
    const std::vector<size_t>& keys = events_[0]->data->key_of_choice;
    return static_cast<size_t>(
        std::ranges::count_if(keys, [](size_t key) { return key != SIZE_MAX; }));
  }

  /// The total of the baseline column: that of its rows.
  void find_shown_total() {
    shown_total_ = 0;
    for (const MatchedRow& row : rows_)
      if (!options_.relative || !row.hidden) shown_total_ += row.cells[0].period;
  }

  void keep_baseline() {
    std::erase_if(
        rows_, [](const MatchedRow& row) { return !row.is_in_baseline() || !row.is_in_others(); });
    find_shown_total();
  }

  [[nodiscard]] bool compares(const MatchedRow& row, size_t side) const {
    return events_[side] != nullptr && (row.is_in_baseline() || row.cells[side].present);
  }
  void keep_above_noise() {
    std::erase_if(rows_, [&](const MatchedRow& row) {
      for (size_t side = 1; side < events_.size(); ++side)
        if (compares(row, side) && worth_[side - 1].interval(row).leaves_out_zero()) return false;
      return true;
    });
  }

  // The columns.

  struct ValueColumn {
    enum What : uint8_t { kBaseline, kDifference, kFormula, kPeriod, kInterval, kVerdict } what;
    size_t side;
  };

  void make_columns() {
    for (size_t side = 0; side < inputs_.size(); ++side) {
      if (side == 0)
        add_column({ValueColumn::kBaseline, 0}, "baseline", "Baseline", 0);
      else
        add_difference(side);
      if (side > 0 && options_.show_noise) {
        add_column({ValueColumn::kInterval, side}, "interval", "Interval, points", 18);
        add_column({ValueColumn::kVerdict, side}, "verdict", "Verdict", 0);
      }
      if (side > 0 && options_.show_formula)
        add_column({ValueColumn::kFormula, side}, "formula", "Formula", kFormulaWidth);
      if (options_.show_period)
        add_column({ValueColumn::kPeriod, side}, "period", side == 0 ? "Base period" : "Period",
                   kPeriodWidth);
    }
    for (const OrderTerm& term : inputs_[0]->plan().columns) {
      if (!term.is_key) continue;
      size_t at = index_of_choice(term.key);
      if (at == SIZE_MAX) continue;
      table_.columns.push_back(key_column(at));
      shown_keys_.push_back(at);
    }
  }

  void add_difference(size_t side) {
    ValueColumn column{ValueColumn::kDifference, side};
    switch (options_.difference.method) {
      case DiffMethod::kDelta:
        return add_column(column, "delta", "Delta", 7);
      case DiffMethod::kDeltaAbs:
        return add_column(column, "delta_abs", "Delta Abs", 7);
      case DiffMethod::kRatio:
        return add_column(column, "ratio", "Ratio", kPeriodWidth);
      case DiffMethod::kWeighted:
        return add_column(column, "weighted_diff", kWeightedTitle, kPeriodWidth);
    }
  }

  /// With more than two recordings, titles say which one a column belongs to.
  [[nodiscard]] std::string title_of(std::string_view title, size_t side) const {
    return inputs_.size() > 2 ? fmt::format("{}/{}", title, side) : std::string(title);
  }

  void add_column(ValueColumn value, std::string_view name, std::string_view title, size_t width) {
    view::Column column;
    column.name = name;
    column.title = title_of(title, value.side);
    column.width = std::max(column.title.size(), width);
    column.value_width = column.width;
    bool is_delta = options_.difference.method <= DiffMethod::kDeltaAbs;
    column.signs = value.what == ValueColumn::kDifference;
    if (options_.separator.empty() && (value.what == ValueColumn::kBaseline ||
                                       (value.what == ValueColumn::kDifference && is_delta)))
      column.kind = view::Column::Kind::kPercent;
    else
      column.right_aligned = options_.separator.empty();
    if (!column.right_aligned) column.title.insert(0, column.width - column.title.size(), ' ');
    table_.columns.push_back(std::move(column));
    values_.push_back(value);
  }

  /// The index among the compared keys of a key of the plan.
  [[nodiscard]] size_t index_of_choice(size_t choice) const {
    const std::vector<size_t>& keys = events_[0]->data->key_of_choice;
    if (keys[choice] == SIZE_MAX) return SIZE_MAX;
    size_t index = 0;
    for (size_t i = 0; i < choice; ++i) index += keys[i] == SIZE_MAX ? 0 : 1;
    return index;
  }
  [[nodiscard]] static size_t key_at(const EventReport& event, size_t index) {
    for (size_t key : event.data->key_of_choice)
      if (key != SIZE_MAX && index-- == 0) return key;
    return SIZE_MAX;
  }

  /// As wide as the rows shown need, whichever recording they come from.
  [[nodiscard]] view::Column key_column(size_t index) const {
    const SortKey& by = events_[0]->data->keys.key(key_at(*events_[0], index));
    view::Column column;
    column.name = by.name;
    column.title = by.title;
    column.width = std::max(by.title.size(), rows_.empty() ? 0 : by.min_width);
    column.cuts = by.cuts;
    column.right_aligned = by.right_aligned;
    for (const MatchedRow& row : rows_) {
      if (row.hidden) continue;
      const EventReport& event = *events_[row.side];
      column.width = std::max(column.width, key_width(*event.data, key_at(event, index), row.row));
    }
    return column;
  }

  // The rows.

  void add_row(const MatchedRow& row) {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (table_.columns[i].kind == view::Column::Kind::kPercent) {
        table_.add_percent(percent(row, values_[i]));
        continue;
      }
      append_value(row, values_[i], table_.text_buffer());
      table_.add_text();
    }
    for (size_t index : shown_keys_) {
      const EventReport& event = *events_[row.side];
      append_key_text(*event.data, key_at(event, index), row.row,
                      event.data->rows->any(row.row).self_count, table_.text_buffer());
      table_.add_text();
    }
    table_.end_row();
  }

  [[nodiscard]] std::optional<double> difference(const MatchedRow& row, size_t side) const {
    return RowDifference(options_.difference, totals_).of(row, side);
  }
  /// NaN: nothing is shown.
  [[nodiscard]] double percent(const MatchedRow& row, const ValueColumn& column) const {
    constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
    if (column.what == ValueColumn::kDifference)
      return difference(row, column.side).value_or(kNothing);
    if (!row.is_in_baseline()) return kNothing;
    return report::percent_of(row.cells[0].period, shown_total_);
  }

  void append_value(const MatchedRow& row, const ValueColumn& column, std::string& out) const {
    auto to = std::back_inserter(out);
    size_t side = column.side;
    switch (column.what) {
      case ValueColumn::kBaseline:
        if (row.is_in_baseline()) fmt::format_to(to, "{:.2f}", percent(row, column));
        return;
      case ValueColumn::kDifference:
        return append_difference(row, side, out);
      case ValueColumn::kFormula:
        if (row.cells[side].present) append_formula(row, side, out);
        return;
      case ValueColumn::kPeriod:
        if (side == 0 || row.cells[side].present) fmt::format_to(to, "{}", row.cells[side].period);
        return;
      case ValueColumn::kInterval:
        if (!compares(row, side)) return;
        return append_interval(worth_[side - 1].interval(row), out);
      case ValueColumn::kVerdict:
        if (compares(row, side)) out += worth_[side - 1].verdict(row);
        return;
    }
  }

  static void append_interval(const ShareInterval& interval, std::string& out) {
    fmt::format_to(std::back_inserter(out), "{:+.2f} .. {:+.2f}", 100 * interval.low,
                   100 * interval.high);
  }

  void append_difference(const MatchedRow& row, size_t side, std::string& out) const {
    auto to = std::back_inserter(out);
    auto value = difference(row, side);
    if (!value) return;
    switch (options_.difference.method) {
      case DiffMethod::kDelta:
      case DiffMethod::kDeltaAbs:
        fmt::format_to(to, "{:+4.2f}%", *value);
        return;
      case DiffMethod::kRatio:
        if (row.is_in_baseline())
          fmt::format_to(to, "{:14.6f}", *value);
        else
          out += "N/A";
        return;
      case DiffMethod::kWeighted:
        if (row.is_in_baseline())
          append_weighted(RowDifference(options_.difference, totals_).weighted(row, side), side,
                          out);
        else
          out += "N/A";
        return;
    }
  }

  /// perf aligns these numbers to the width of periods, in columns that a longer title makes wider.
  void append_weighted(int64_t value, size_t side, std::string& out) const {
    size_t width = options_.separator.empty() ? title_of(kWeightedTitle, side).size() : 0;
    fmt::format_to(std::back_inserter(out), "{:<{}}", fmt::format("{:{}}", value, kPeriodWidth),
                   width);
  }

  void append_formula(const MatchedRow& row, size_t side, std::string& out) const {
    auto to = std::back_inserter(out);
    uint64_t here = row.cells[side].period, before = row.cells[0].period;
    switch (options_.difference.method) {
      case DiffMethod::kDelta:
      case DiffMethod::kDeltaAbs:
        fmt::format_to(to, "({} * 100 / {}) - ({} * 100 / {})", here, totals_[side], before,
                       shown_total_);
        return;
      case DiffMethod::kRatio:
        fmt::format_to(to, "{} / {}", here, before);
        return;
      case DiffMethod::kWeighted:
        fmt::format_to(to, "({} * {}) - ({} * {})", here, options_.difference.data_weight, before,
                       options_.difference.baseline_weight);
        return;
    }
  }

  const std::vector<std::unique_ptr<DiffInput>>& inputs_;
  const DiffOptions& options_;
  std::vector<const EventReport*> events_;  // by side; null if it has no such event
  std::vector<uint64_t> totals_;
  std::vector<SampledTotal> sampled_;
  std::vector<RowWorth> worth_;  // of side 1, 2 …
  uint64_t shown_total_ = 0;
  std::vector<MatchedRow> rows_;
  std::vector<ValueColumn> values_;  // the table's first columns
  std::vector<size_t> shown_keys_;   // the others
  view::Table table_;
};

}  // namespace

Result<view::Table> make_table(const std::vector<std::unique_ptr<DiffInput>>& inputs,
                               const EventReport& event, const DiffOptions& options) {
  return TableBuilder(inputs, event, options).make();
}

}  // namespace sonde::diff
