#include "export/pictures/heat_map_grid.h"

#include <algorithm>
#include <cmath>

#include "export/pictures/axis.h"

namespace sonde {
namespace {

constexpr size_t kMaxColumns = 10'000;
constexpr size_t kMaxRows = 1'000;
constexpr size_t kUsualColumns = 150;
constexpr size_t kUsualRows = 50;
constexpr double kWideRange = 100;
constexpr uint64_t kSecond = 1'000'000'000;

class HeatGrid {
 public:
  HeatGrid(const std::vector<HeatPoint>& points, const HeatGridOptions& options)
      : points_(points), options_(options) {}

  Result<view::HeatMap> make() && {
    if (points_.empty()) return fail(ErrorCode::kFailed, "there is nothing to draw: no events");
    measure();
    TRY(make_rows());
    TRY(make_columns());
    map_.counts.assign(map_.columns * map_.rows(), 0);
    for (const HeatPoint& point : points_) count(point);
    return std::move(map_);
  }

 private:
  void measure() {
    auto [first, last] = std::ranges::minmax(points_, {}, &HeatPoint::time_s);
    auto [least, most] = std::ranges::minmax(points_, {}, &HeatPoint::value);
    first_s_ = first.time_s;
    last_s_ = last.time_s;
    least_ = least.value;
    most_ = most.value;
    map_.is_log = options_.scale == HeatScale::kLog ||
                  (options_.scale == HeatScale::kAuto && !options_.value_step && least_ > 0 &&
                   most_ >= least_ * kWideRange);
  }

  // Rows.

  Result<> make_rows() {
    double high = options_.max_value.value_or(most_);
    double low = options_.min_value.value_or(map_.is_log ? std::min(least_above_zero(), high)
                                                         : std::min(0.0, least_));
    if (high < low)
      return fail(ErrorCode::kFailed, "--minlat {} lies above {} {}", plain_number(low),
                  options_.max_value ? "--maxlat" : "all values: the largest is",
                  plain_number(high));
    return map_.is_log ? make_log_rows(low, high) : make_linear_rows(low, high);
  }
  [[nodiscard]] double least_above_zero() const {
    double least = INFINITY;
    for (const HeatPoint& point : points_)
      if (point.value > 0) least = std::min(least, point.value);
    return least;
  }

  Result<> make_linear_rows(double low, double high) {
    double span = high > low ? high - low : 1;
    double step = options_.value_step.value_or(
        options_.rows ? span / static_cast<double>(std::max<size_t>(*options_.rows, 1))
                      : round_step(span, kUsualRows));
    if (!(step > 0) || !std::isfinite(span / step))
      return fail(ErrorCode::kFailed, "--steplat: rows cannot be {} high", plain_number(step));
    double rows = std::max(1.0, std::ceil(span / step - 1e-9));
    TRY(check_rows(rows));
    for (size_t i = 0; i <= static_cast<size_t>(rows); ++i)
      map_.row_edges.push_back(low + static_cast<double>(i) * step);
    hold(low, high);
    return {};
  }

  /// An integral number of rows per power of ten, so that powers of ten are edges.
  Result<> make_log_rows(double low, double high) {
    if (options_.value_step)
      return fail(ErrorCode::kFailed, "--steplat needs a linear scale (--scale linear)");
    if (!(low > 0) || !std::isfinite(low))
      return fail(ErrorCode::kFailed, "a logarithmic scale must start above zero (--minlat)");
    double most_rows = static_cast<double>(options_.rows.value_or(kUsualRows));
    double per_decade = 1, first = 0, last = 0;
    for (double tried : {20.0, 10.0, 8.0, 5.0, 4.0, 3.0, 2.0, 1.0}) {
      per_decade = tried;
      first = std::floor(std::log10(low) * tried + 1e-9);
      last = std::max(first + 1, std::ceil(std::log10(high) * tried - 1e-9));
      if (last - first <= most_rows) break;
    }
    TRY(check_rows(last - first));
    for (double i = first; i <= last; ++i) map_.row_edges.push_back(std::pow(10, i / per_decade));
    hold(low, high);
    return {};
  }
  /// Edges are rounded; widens the outer ones so that the least and the largest value are still
  /// inside.
  void hold(double low, double high) {
    map_.row_edges.front() = std::min(map_.row_edges.front(), low);
    map_.row_edges.back() = std::max(map_.row_edges.back(), high);
  }
  static Result<> check_rows(double rows) {
    if (rows <= static_cast<double>(kMaxRows)) return {};
    return fail(ErrorCode::kFailed, "{} rows are too many (at most {}): --rows, --steplat",
                plain_number(rows), kMaxRows);
  }

  // Columns.

  Result<> make_columns() {
    double span = last_s_ - first_s_;
    map_.x_start = first_s_;
    map_.x_step = options_.step_s.value_or(round_step(span, kUsualColumns));
    if (!(map_.x_step > 0))
      return fail(ErrorCode::kFailed, "--stepsec: columns cannot be {} s wide",
                  plain_number(map_.x_step));
    double columns = std::floor(span / map_.x_step) + 1;
    if (options_.last_column)
      columns = std::min(columns, static_cast<double>(*options_.last_column) + 1);
    if (!(columns <= static_cast<double>(kMaxColumns)))
      return fail(ErrorCode::kFailed,
                  "{} columns of {} s are too many (at most {}): --stepsec, --maxcol, or "
                  "--unitstime if times are not in seconds",
                  plain_number(columns), plain_number(map_.x_step), kMaxColumns);
    map_.columns = static_cast<size_t>(columns);
    return {};
  }

  void count(const HeatPoint& point) {
    double column = std::floor((point.time_s - first_s_) / map_.x_step);
    if (column >= static_cast<double>(map_.columns)) {
      ++map_.beyond;
      return;
    }
    if (point.value < map_.row_edges.front() || below_least(point.value)) {
      ++map_.below;
      return;
    }
    if (point.value > map_.row_edges.back() || above_most(point.value)) {
      ++map_.above;
      return;
    }
    ++map_.inside;
    ++map_.counts[static_cast<size_t>(column) * map_.rows() + row_of(point.value)];
  }
  [[nodiscard]] bool below_least(double value) const {
    return options_.min_value && value < *options_.min_value;
  }
  [[nodiscard]] bool above_most(double value) const {
    return options_.max_value && value > *options_.max_value;
  }
  [[nodiscard]] size_t row_of(double value) const {
    auto edge = std::ranges::upper_bound(map_.row_edges, value);
    auto row = static_cast<size_t>(edge - map_.row_edges.begin()) - 1;
    return std::min(row, map_.rows() - 1);
  }

  const std::vector<HeatPoint>& points_;
  const HeatGridOptions& options_;
  view::HeatMap map_;
  double first_s_ = 0, last_s_ = 0, least_ = 0, most_ = 0;
};

}  // namespace

Result<view::HeatMap> make_heat_map(const std::vector<HeatPoint>& points,
                                    const HeatGridOptions& options) {
  return HeatGrid(points, options).make();
}

Result<view::HeatMap> make_second_map(const std::vector<uint64_t>& times_ns, size_t rows,
                                      uint64_t& first_second) {
  if (times_ns.empty()) return fail(ErrorCode::kFailed, "there is nothing to draw: no events");
  if (rows == 0 || rows > kMaxRows)
    return fail(ErrorCode::kFailed, "--rows: {} rows cannot be drawn (1 to {})", rows, kMaxRows);
  auto [least, most] = std::ranges::minmax(times_ns);
  first_second = least / kSecond;
  uint64_t columns = most / kSecond - first_second + 1;
  if (columns > kMaxColumns)
    return fail(ErrorCode::kFailed, "{} seconds are too many for one picture (at most {}): --time",
                columns, kMaxColumns);
  view::HeatMap map;
  map.columns = columns;
  for (size_t i = 0; i <= rows; ++i)
    map.row_edges.push_back(static_cast<double>(kSecond) * static_cast<double>(i) /
                            static_cast<double>(rows));
  map.counts.assign(map.columns * rows, 0);
  map.inside = times_ns.size();
  for (uint64_t time : times_ns)
    ++map.counts[(time / kSecond - first_second) * rows + time % kSecond * rows / kSecond];
  return map;
}

}  // namespace sonde
