// The fading rows of `top`: each row loses an eighth of its weight at every screen, so that the
// table shows the recent past without jumping. The events of a group have weights of their own in
// each row, side by side. Rows of different intervals are merged if their keys
// have the same identity (profile/keys/sort_key.h).
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "report/data.h"
#include "view/table.h"

namespace sonde::top {

class FadingRows {
 public:
  FadingRows(const report::ReportOptions& options, const report::Plan& plan)
      : options_(options), plan_(plan) {}

  /// Reduces all weights; drops rows no longer worth a sample.
  void fade();
  void clear();
  /// Rows of the samples since the last time, built with `only_rows`.
  void add(const report::EventReport& event);
  struct Shown {
    view::Table table;
    std::vector<Frame> places;  // per row: one that contributed to it
  };
  /// The heaviest rows: at most `most`, each with at least `least_samples` samples.
  [[nodiscard]] Shown table(size_t most, uint64_t least_samples) const;

 private:
  struct Line {
    std::vector<double> weights;    // per column of the plan and event: column * members_ + event
    double samples = 0;             // of all events
    double period = 0;              // of the first one
    std::vector<std::string> keys;  // per key column: as shown
    std::vector<size_t> widths;     // needed by `keys`
    std::vector<std::string> identity;
    Frame place;
  };
  [[nodiscard]] std::vector<const Line*> sorted(uint64_t least_samples) const;
  [[nodiscard]] bool stands_before(const Line& a, const Line& b) const;
  void add_cells(const Line& line, size_t column, view::Table& table) const;
  void add_row(const report::EventReport& event, uint32_t row);
  void learn_columns(const report::EventReport& event);

  const report::ReportOptions& options_;
  const report::Plan& plan_;
  std::vector<OrderTerm> terms_;       // of the columns; keys index the key columns
  std::vector<view::Column> columns_;  // without widths
  std::vector<size_t> keys_;           // per key column: index in the KeySet
  std::vector<size_t> min_widths_;
  size_t members_ = 1;                 // events of the group
  std::vector<double> totals_;         // by event: period
  std::vector<SampledTotal> sampled_;  // by event: behind it
  std::unordered_map<std::string, Line> lines_;
};

}  // namespace sonde::top
