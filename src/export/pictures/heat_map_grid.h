// Bins points of time and value into the cells of a heat map.
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
  kAuto,  // logarithmic if all values are positive and the largest is at least a hundred times the
          // least
};

struct HeatGridOptions {
  HeatScale scale = HeatScale::kLinear;
  std::optional<double> step_s = {};       // per column; default: round, giving at most 150
  std::optional<size_t> last_column = {};  // counted from 0: later points are left out
  std::optional<double> min_value = {};    // default: 0 if linear, otherwise the least value
  std::optional<double> max_value = {};    // default: the largest value
  std::optional<double> value_step = {};   // row height on a linear scale
  std::optional<size_t> rows = {};         // default: as many as give round edges, at most 50
};

/// Columns begin at the earliest time. Errors (kFailed): no points within the limits, contradictory
/// limits, more columns or rows than a picture can have; the message names the option that helps.
Result<view::HeatMap> make_heat_map(const std::vector<HeatPoint>& points,
                                    const HeatGridOptions& options);

/// One column per second, with rows for the offset within the second (in ns): shows what happens at
/// a fixed point of every second, or for part of one. `times_ns`: clock times; columns are whole
/// seconds of that clock, starting with the one that contains the earliest time (its number is
/// `first_second`).
Result<view::HeatMap> make_second_map(const std::vector<uint64_t>& times_ns, size_t rows,
                                      uint64_t& first_second);

}  // namespace sonde
