#include "top/rows.h"

#include <algorithm>
#include <span>

#include "profile/matched_rows.h"

namespace sonde::top {
namespace {

constexpr double kFade = 7.0 / 8;
/// Rows that determine column widths: not the thousands below, which come and go.
constexpr size_t kRowsForWidths = 100;

}  // namespace

void FadingRows::fade() {
  for (double& total : totals_) total *= kFade;
  for (SampledTotal& sampled : sampled_) {
    sampled.weight *= kFade;
    sampled.squares *= kFade * kFade;
  }
  for (auto line = lines_.begin(); line != lines_.end();) {
    line->second.samples *= kFade;
    line->second.period *= kFade;
    for (double& weight : line->second.weights) weight *= kFade;
    // A sample is forgotten when an eighth of it is left.
    bool is_light = std::ranges::all_of(std::span(line->second.weights).first(members_),
                                        [](double weight) { return weight < 1; });
    line = line->second.samples < 1.0 / 8 && is_light ? lines_.erase(line) : std::next(line);
  }
}

void FadingRows::clear() {
  totals_.assign(members_, 0);
  sampled_.assign(members_, {});
  lines_.clear();
}

void FadingRows::learn_columns(const report::EventReport& event) {
  const report::EventReport::Data& data = *event.data;
  members_ = event.members.size();
  totals_.resize(members_);
  sampled_.resize(members_);
  for (const OrderTerm& term : plan_.columns) {
    if (!term.is_key) {
      terms_.push_back(term);
      columns_.push_back(report::weight_column(term.weight, plan_.self_title, members_));
      min_widths_.push_back(columns_.back().width);
      continue;
    }
    size_t key = data.key_of_choice[term.key];
    if (key == SIZE_MAX) continue;
    const SortKey& by = data.keys.key(key);
    view::Column column;
    column.name = by.name;
    column.title = by.title;
    column.cuts = by.cuts;
    column.right_aligned = by.right_aligned;
    columns_.push_back(std::move(column));
    min_widths_.push_back(std::max(by.title.size(), by.min_width));
    terms_.push_back(OrderTerm::of_key(keys_.size()));
    keys_.push_back(key);
  }
}

void FadingRows::add(const report::EventReport& event) {
  if (terms_.empty()) learn_columns(event);
  for (size_t member = 0; member < members_; ++member) {
    totals_[member] += static_cast<double>(report::total_period(*event.data, options_, member));
    SampledTotal more = report::sampled_total(*event.data, options_.relative, member);
    sampled_[member].weight += more.weight;
    sampled_[member].squares += more.squares;
  }
  for (uint32_t row : event.data->rows->order())
    if (!event.data->rows->hidden(row)) add_row(event, row);
}

void FadingRows::add_row(const report::EventReport& event, uint32_t row) {
  const report::EventReport::Data& data = *event.data;
  const TableRows& rows = *data.rows;
  std::string joined;
  std::vector<std::string> identity;
  for (size_t key : keys_) {
    identity.push_back(
        data.keys.key(key).identity(rows.value(row, key), rows.any(row).first_sample));
    // Addresses without a symbol have no identity, but here they all come from one machine.
    if (identity.back().empty()) report::append_key_text(data, key, row, 1, identity.back());
    joined += identity.back();
    joined += '\0';
  }
  auto [found, is_new] = lines_.try_emplace(std::move(joined));
  Line& line = found->second;
  if (is_new) {
    line.identity = std::move(identity);
    line.place = report::frame_of_row(data, rows.any(row));
    for (size_t key : keys_) {
      report::append_key_text(data, key, row, rows.any(row).self_count, line.keys.emplace_back());
      line.widths.push_back(report::key_width(data, key, row));
    }
    line.weights.resize(terms_.size() * members_);
  }
  line.period += static_cast<double>(rows.weight(row, 0, Weight::kPeriod));
  for (size_t member = 0; member < members_; ++member) {
    line.samples += static_cast<double>(rows.weight(row, member, Weight::kSamples));
    for (size_t i = 0; i < terms_.size(); ++i)
      if (!terms_[i].is_key)
        line.weights[i * members_ + member] +=
            static_cast<double>(rows.weight(row, member, terms_[i].weight));
  }
}

bool FadingRows::stands_before(const Line& a, const Line& b) const {
  // --group-sort-idx names the event that is compared first; the others follow in their order.
  auto chosen = static_cast<size_t>(std::max(options_.group_sort_index, 0));
  if (chosen >= members_) chosen = 0;
  for (size_t i = 0; i < terms_.size(); ++i) {
    if (terms_[i].is_key) continue;
    std::span<const double> of_a = std::span(a.weights).subspan(i * members_, members_);
    std::span<const double> of_b = std::span(b.weights).subspan(i * members_, members_);
    if (of_a[chosen] != of_b[chosen]) return of_a[chosen] > of_b[chosen];
    for (size_t member = 0; member < members_; ++member)
      if (of_a[member] != of_b[member]) return of_a[member] > of_b[member];
  }
  for (size_t i = 0; i < a.identity.size(); ++i)
    if (int order = compare_identities(a.identity[i], b.identity[i]); order != 0) return order < 0;
  return false;
}

std::vector<const FadingRows::Line*> FadingRows::sorted(uint64_t least_samples) const {
  std::vector<const Line*> lines;
  auto limit = options_.percent_limit;
  for (const auto& [name, line] : lines_) {
    bool light = totals_[0] > 0 && 100 * line.period / totals_[0] < limit;
    if (!light && line.samples >= static_cast<double>(least_samples)) lines.push_back(&line);
  }
  std::ranges::sort(lines, [&](const Line* a, const Line* b) { return stands_before(*a, *b); });
  return lines;
}

/// The numbers of a row in a column, one per event.
void FadingRows::add_cells(const Line& line, size_t column, view::Table& table) const {
  for (size_t member = 0; member < members_; ++member) {
    double weight = line.weights[column * members_ + member], total = totals_[member];
    if (report::is_share(terms_[column].weight))
      report::add_share(table, terms_[column].weight, total > 0 ? 100 * weight / total : 0,
                        sampled_[member].effective());
    else
      table.add_number(static_cast<uint64_t>(weight + 0.5));
  }
}

FadingRows::Shown FadingRows::table(size_t most, uint64_t least_samples) const {
  std::vector<const Line*> lines = sorted(least_samples);
  if (lines.size() > most) lines.resize(most);
  Shown shown;
  view::Table& table = shown.table;
  table.columns = columns_;
  for (size_t i = 0; i < terms_.size(); ++i) {
    table.columns[i].width = min_widths_[i];
    if (terms_[i].is_key)
      for (const Line* line : std::span(lines).first(std::min(lines.size(), kRowsForWidths)))
        table.columns[i].width = std::max(table.columns[i].width, line->widths[terms_[i].key]);
  }
  for (const Line* line : lines) {
    for (size_t i = 0; i < terms_.size(); ++i) {
      if (terms_[i].is_key) {
        table.text_buffer() += line->keys[terms_[i].key];
        table.add_text();
      } else {
        add_cells(*line, i, table);
      }
    }
    table.end_row();
    shown.places.push_back(line->place);
  }
  return shown;
}

}  // namespace sonde::top
