// Points of time and value into the cells of a heat map.
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "view/heat_map.h"

namespace sonde {

struct HeatPoint {
  double time_s = 0;
  double value = 0;
};

enum class HeatScale : uint8_t {
  kLinear,
  kLog,
  kAuto,  // logarithmic where all values are above zero and the largest is a hundred times the
          // least
};

struct HeatGridOptions {
  HeatScale scale = HeatScale::kLinear;
  std::optional<double> step_s = {};       // per column; else a round one that gives at most 150
  std::optional<size_t> last_column = {};  // counted from 0: what lies behind it is left out
  std::optional<double> min_value = {};    // else 0 on a linear scale, the least value on another
  std::optional<double> max_value = {};    // else the largest value
  std::optional<double> value_step = {};   // height of a row, on a linear scale
  std::optional<size_t> rows = {};         // else as many as give round edges, at most 50
};

/// Columns begin at the least time. Errors (kFailed): no points inside the limits, limits that
/// exclude each other, more columns or rows than a picture can have; the message says which option
/// helps.
Result<view::HeatMap> make_heat_map(const std::vector<HeatPoint>& points,
                                    const HeatGridOptions& options);

/// By seconds, and in these by the offset inside the second (in ns), so that what happens at some
/// time in each second, or for a part of one, is seen. `times_ns`: of the clock; columns are whole
/// seconds of it, from the one that holds the least time on (its number is `first_second`).
Result<view::HeatMap> make_second_map(const std::vector<uint64_t>& times_ns, size_t rows,
                                      uint64_t& first_second);

}  // namespace sonde
