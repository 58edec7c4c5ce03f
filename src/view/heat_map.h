// A heat map as plain data: how many events fell into each cell of a grid of time and value.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde::view {

struct HeatMap {
  double x_start = 0;  // s: left edge of the first column, relative to the start of the measurement
  double x_step = 1;   // s per column
  size_t columns = 0;
  std::vector<double> row_edges;  // ascending; a row includes its lower edge, the last both
  bool is_log = false;            // rows have equal height on a logarithmic scale
  std::vector<uint32_t> counts;   // by column, then by row
  uint64_t inside = 0;
  uint64_t below = 0;   // events below the lowest row
  uint64_t above = 0;   // events above the highest row
  uint64_t beyond = 0;  // events in columns that the user excluded

  [[nodiscard]] size_t rows() const { return row_edges.empty() ? 0 : row_edges.size() - 1; }
  [[nodiscard]] uint32_t count(size_t column, size_t row) const {
    return counts[column * rows() + row];
  }
};

}  // namespace sonde::view
