// The rows of `top` that fade: what fell on each counts an eighth less at every screen, so that the
// table shows the last moments without jumping. Rows of different stretches are one where their
// keys have the same identity (profile/sort_key.h).
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "cmd/cmd_report_data.h"
#include "view/table.h"

namespace sonde::top {

class FadingRows {
 public:
  FadingRows(const report::ReportOptions& options, const report::Plan& plan)
      : options_(options), plan_(plan) {}

  /// Everything counts less; what is no longer worth a sample goes.
  void fade();
  void clear();
  /// Rows of the samples since the last time, made with `only_rows`.
  void add(const report::EventReport& event);
  struct Shown {
    view::Table table;
    std::vector<Frame> places;  // by row: one that made it
  };
  /// The heaviest rows, at most so many, of at least so many samples.
  [[nodiscard]] Shown table(size_t most, uint64_t least_samples) const;

 private:
  struct Line {
    std::vector<double> weights;  // by weight column of the plan
    double samples = 0, period = 0;
    std::vector<std::string> keys;  // by key column: as shown
    std::vector<size_t> widths;     // that these demand
    std::vector<std::string> identity;
    Frame place;
  };
  [[nodiscard]] std::vector<const Line*> sorted(uint64_t least_samples) const;
  [[nodiscard]] bool stands_before(const Line& a, const Line& b) const;
  void add_row(const report::EventReport& event, uint32_t row);
  void learn_columns(const report::EventReport& event);

  const report::ReportOptions& options_;
  const report::Plan& plan_;
  std::vector<OrderTerm> terms_;       // of the columns; keys count the key columns
  std::vector<view::Column> columns_;  // without widths
  std::vector<size_t> keys_;           // by key column: in the KeySet
  std::vector<size_t> min_widths_;
  double total_ = 0;  // period
  std::unordered_map<std::string, Line> lines_;
};

}  // namespace sonde::top
