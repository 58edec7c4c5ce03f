#include "report/data.h"

#include "base/parallel.h"
#include "base/text.h"
#include "report/breakdown.h"

namespace sonde::report {
namespace {

bool is_interval(Weight weight) {
  return weight == Weight::kOverheadInterval || weight == Weight::kChildrenInterval;
}

size_t weight_width(Weight weight) {
  switch (weight) {
    case Weight::kSamples:
    case Weight::kPeriod:
      return 12;
    case Weight::kGuestSystem:
    case Weight::kGuestUser:
      return 9;
    case Weight::kOverheadInterval:
    case Weight::kChildrenInterval:
      return view::kIntervalWidth;
    default:
      return 8;
  }
}

std::string_view weight_name(Weight weight) {
  switch (weight) {
    case Weight::kOverhead:
      return "overhead";
    case Weight::kSystem:
      return "overhead_sys";
    case Weight::kUser:
      return "overhead_us";
    case Weight::kGuestSystem:
      return "overhead_guest_sys";
    case Weight::kGuestUser:
      return "overhead_guest_us";
    case Weight::kChildren:
      return "overhead_children";
    case Weight::kSamples:
      return "sample";
    case Weight::kPeriod:
      return "period";
    case Weight::kOverheadInterval:
      return "confidence";
    case Weight::kChildrenInterval:
      return "confidence_children";
    case Weight::kLatency:
      return "latency";
    case Weight::kLatencyChildren:
      return "latency_children";
    default:
      return {};
  }
}

std::string_view weight_title(Weight weight, bool self_title) {
  switch (weight) {
    case Weight::kOverhead:
      return self_title ? "Self" : "Overhead";
    case Weight::kSystem:
      return "sys";
    case Weight::kUser:
      return "usr";
    case Weight::kGuestSystem:
      return "guest sys";
    case Weight::kGuestUser:
      return "guest usr";
    case Weight::kChildren:
      return "Children";
    case Weight::kSamples:
      return "Samples";
    case Weight::kPeriod:
      return "Period";
    case Weight::kOverheadInterval:
    case Weight::kChildrenInterval:
      return "95% interval";
    case Weight::kLatency:
      return self_title ? "Self Latency" : "Latency";
    case Weight::kLatencyChildren:
      return "Children Latency";
    default:
      return {};
  }
}

/// Rows that one thread works on before it takes others.
constexpr size_t kRowsAtOnce = 8192;

/// Makes a column wide enough for a row. Whether that has a symbol matters only until the column is
/// as wide as a row without one.
void widen(size_t& width, const EventReport::Data& data, size_t key, uint32_t row) {
  if (data.rows->hidden(row)) return;
  const SortKey& by = data.keys.key(key);
  size_t needed = width >= by.unresolved_width()
                      ? by.width(data.rows->value(row, key), data.rows->any(row).first_sample)
                      : key_width(data, key, row);
  width = std::max(width, needed);
}

bool is_of_children(Weight weight) {
  return weight == Weight::kChildren || weight == Weight::kChildrenInterval ||
         weight == Weight::kLatencyChildren;
}

view::Column::Kind weight_kind(Weight weight) {
  if (is_interval(weight)) return view::Column::Kind::kInterval;
  return is_share(weight) ? view::Column::Kind::kPercent : view::Column::Kind::kNumber;
}

/// Fills a flat table from sorted rows.
class TableFiller {
 public:
  TableFiller(EventReport& report, const ReportOptions& options, const Plan& plan)
      : report_(report),
        data_(*report.data),
        options_(options),
        plan_(plan),
        totals_(data_, options.relative),
        breakdown_(data_, plan) {}

  void fill() {
    make_columns();
    for (size_t member = 0; member < data_.rows->members(); ++member)
      effective_.push_back(sampled_total(data_, options_.relative, member).effective());
    data_.table_rows = shown_rows();
    set_user_widths();
    if (plan_.call_graph) add_trees(report_, options_, plan_, data_.table_rows);
  }
  void add_rows(size_t first, size_t end, view::Table& table) const {
    constexpr size_t kAtOnce = 64;
    for (size_t at = first; at < end; at += kAtOnce) {
      auto rows = std::span(data_.table_rows).subspan(at, std::min(kAtOnce, end - at));
      prefetch(rows);
      for (uint32_t row : rows) add_row(row, table);
    }
  }

 private:
  [[nodiscard]] std::vector<uint32_t> shown_rows() const {
    auto limit = static_cast<float>(options_.percent_limit);
    Weight main = main_share(plan_);
    std::vector<uint32_t> rows;
    for (uint32_t row : data_.rows->order()) {
      if (data_.rows->hidden(row)) continue;
      double percent = totals_.percent(data_.rows->weight(row, 0, main), main, 0);
      if (static_cast<float>(percent) >= limit) rows.push_back(row);
    }
    return rows;
  }

  void make_columns() {
    view::Table& table = report_.table;
    for (const OrderTerm& term : plan_.columns) {
      if (!term.is_key) {
        table.columns.push_back(
            is_breakdown(term.weight)
                ? breakdown_.column(term.weight)
                : weight_column(term.weight, plan_.self_title, data_.rows->members()));
        if (!plan_.children && is_of_children(term.weight))
          table.columns.back().kind = view::Column::Kind::kNotAvailable;
        terms_.push_back(term);
        continue;
      }
      size_t key = data_.key_of_choice[term.key];
      if (key == SIZE_MAX) continue;
      table.columns.push_back(key_column(data_, key));
      terms_.push_back(OrderTerm::of_key(key));
    }
  }

  void prefetch(std::span<const uint32_t> rows) const {
    data_.rows->prefetch(rows);
    std::vector<SortKey::RowValue> values;
    for (const OrderTerm& term : terms_) {
      if (!term.is_key) continue;
      values.clear();
      for (uint32_t row : rows)
        values.push_back({data_.rows->value(row, term.key), data_.rows->any(row).first_sample});
      data_.keys.key(term.key).prefetch(values);
    }
  }

  void add_row(uint32_t row, view::Table& table) const {
    for (const OrderTerm& term : terms_) {
      if (term.is_key) {
        append_key_text(data_, term.key, row, data_.rows->any(row).self_count, table.text_buffer());
        table.add_text();
        continue;
      }
      if (is_breakdown(term.weight)) {
        breakdown_.add_cell(table, term.weight, data_.rows->sources(row));
        continue;
      }
      for (size_t member = 0; member < data_.rows->members(); ++member) {
        uint64_t weight = data_.rows->weight(row, member, term.weight);
        if (is_share(term.weight))
          add_share(table, term.weight, totals_.percent(weight, term.weight, member),
                    effective_[member]);
        else
          table.add_number(weight);
      }
    }
    table.end_row();
  }

  void set_user_widths() {
    if (options_.widths.empty()) return;
    size_t column = 0;
    for (std::string_view word : split(options_.widths, ',')) {
      if (column >= report_.table.columns.size()) return;
      report_.table.columns[column++].user_width = parse_number(word).value_or(0);
    }
  }

  EventReport& report_;
  EventReport::Data& data_;
  const ReportOptions& options_;
  const Plan& plan_;
  ShareTotals totals_;
  Breakdown breakdown_;
  std::vector<OrderTerm> terms_;   // of the table's columns; keys index data_.keys
  std::vector<double> effective_;  // by member: samples
};

}  // namespace

bool is_share(Weight weight) {
  return weight != Weight::kSamples && weight != Weight::kPeriod;
}

uint64_t total_period(const EventReport::Data& data, const ReportOptions& options, size_t member) {
  return total_of(data.rows->profile(member), data.left_out[member].period, options.relative);
}

uint64_t total_of(const Profile& profile, uint64_t left_out, bool relative) {
  const ProfileTotals& totals = profile.totals();
  return relative ? totals.shown_period : totals.period + left_out;
}

ShareTotals::ShareTotals(const EventReport::Data& data, bool relative) {
  for (size_t i = 0; i < data.profiles.size(); ++i)
    periods_.push_back(total_of(*data.profiles[i], data.left_out[i].period, relative));
  for (size_t i = 0; i < data.latencies.size(); ++i)
    latencies_.push_back(total_of(*data.latencies[i], data.left_out[i].latency, relative));
}

double ShareTotals::percent(uint64_t weight, Weight of, size_t member) const {
  const std::vector<uint64_t>& totals = is_latency(of) ? latencies_ : periods_;
  return percent_of(weight, member < totals.size() ? totals[member] : 0);
}

Weight main_share(const Plan& plan) {
  if (plan.latency_first) return plan.children ? Weight::kLatencyChildren : Weight::kLatency;
  return plan.children ? Weight::kChildren : Weight::kOverhead;
}

double percent_of(uint64_t weight, uint64_t total) {
  return total == 0 ? 0.0 : 100.0 * static_cast<double>(weight) / static_cast<double>(total);
}

SampledTotal sampled_total(const EventReport::Data& data, bool relative, size_t member) {
  const ProfileTotals& totals = data.profiles[member]->totals();
  SampledTotal sampled{static_cast<double>(totals.period), totals.period_squares};
  if (!relative || totals.period == 0) return sampled;
  // Hidden samples are assumed to weigh as much as the others.
  double kept = static_cast<double>(totals.shown_sample_period) / sampled.weight;
  return {sampled.weight * kept, sampled.squares * kept};
}

void add_share(view::Table& table, Weight weight, double percent, double effective) {
  if (!is_interval(weight)) return table.add_percent(percent);
  ShareInterval interval = share_interval(percent / 100, effective);
  table.add_percent(100 * interval.low);
  table.add_percent(100 * interval.high);
}

view::Column weight_column(Weight weight, bool self_title, size_t members) {
  view::Column column;
  column.name = weight_name(weight);
  column.title = weight_title(weight, self_title);
  column.kind = weight_kind(weight);
  column.value_width = weight_width(weight);
  column.values = members * (is_interval(weight) ? 2 : 1);
  size_t gaps = is_interval(weight) ? members - 1 : 0;
  column.width = std::max(column.title.size(), members * column.value_width + gaps);
  return column;
}

void append_key_text(const EventReport::Data& data, size_t key, uint32_t row, uint64_t samples,
                     std::string& out) {
  const SortKey& by = data.keys.key(key);
  uint64_t value = data.rows->value(row, key);
  by.text_of_row(by.multiplies() ? value * samples : value, data.rows->any(row).first_sample, out);
}

const Frame& frame_of_row(const EventReport::Data& data, const Row& row) {
  const ProfileInput& input = data.input;
  FrameId own = input.samples.leaf[row.first_sample];
  ChainId chain = input.samples.chain_of(row.first_sample);
  if (row.first_step == 0 || !chain.valid()) return input.frame(own);
  std::span<const FrameId> frames = input.chains[chain];
  const ProfileOptions& options = data.rows->profile(0).options();
  size_t kept = std::min<size_t>(frames.size(), options.max_stack);
  size_t step = options.caller_order ? frames.size() - row.first_step : row.first_step - 1;
  return input.frame(row.first_step <= kept ? frames[step] : own);
}

view::Column key_column(const EventReport::Data& data, size_t key) {
  const SortKey& by = data.keys.key(key);
  view::Column column;
  column.name = by.name;
  column.title = by.title;
  column.width = std::max(by.title.size(), data.rows->order().empty() ? 0 : by.min_width);
  column.cuts = by.cuts;
  column.right_aligned = by.right_aligned;
  // In the order in which rows are stored, which is that of memory.
  size_t rows = data.rows->size();
  std::vector<size_t> widths((rows + kRowsAtOnce - 1) / kRowsAtOnce, column.width);
  parallel_for(widths.size(), [&](size_t i) {
    size_t end = std::min(rows, (i + 1) * kRowsAtOnce);
    for (size_t row = i * kRowsAtOnce; row < end; ++row)
      widen(widths[i], data, key, static_cast<uint32_t>(row));
  });
  for (size_t width : widths) column.width = std::max(column.width, width);
  return column;
}

size_t key_width(const EventReport::Data& data, size_t key, uint32_t row) {
  const SortKey& by = data.keys.key(key);
  const Row& made = data.rows->any(row);
  size_t width = by.width(data.rows->value(row, key), made.first_sample);
  size_t unresolved = by.unresolved_width();
  return width < unresolved && !frame_of_row(data, made).symbol.valid() ? unresolved : width;
}

void fill_table(EventReport& report, const ReportOptions& options, const Plan& plan) {
  auto filler = std::make_shared<TableFiller>(report, options, plan);
  filler->fill();
  size_t rows = report.data->table_rows.size();
  auto make_page = [filler](size_t first, size_t end, view::Table& page) {
    filler->add_rows(first, end, page);
  };
  if (plan.makes_pages) return report.table.make_rows_by(rows, make_page);
  // Takes only address space; otherwise long names would be copied whenever the text grows.
  constexpr size_t kTextPerRow = 512;
  report.table.text_buffer().reserve(rows * kTextPerRow);
  auto piece_of = [&](size_t i) {
    view::Table piece;
    filler->add_rows(i * kRowsAtOnce, std::min(rows, (i + 1) * kRowsAtOnce), piece);
    return piece;
  };
  auto append = [&](const view::Table& piece) {
    report.table.append_rows(piece);
    return true;
  };
  parallel_in_order((rows + kRowsAtOnce - 1) / kRowsAtOnce, piece_of, append);
}

}  // namespace sonde::report
