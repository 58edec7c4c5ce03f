// A heat map as plain data: how many events fell into each cell of a grid of time and value.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde::view {

struct HeatMap {
  double x_start = 0;  // s: left edge of the first column, from the beginning of what was measured
  double x_step = 1;   // s per column
  size_t columns = 0;
  std::vector<double> row_edges;  // ascending; a row has its lower edge, the last both
  bool is_log = false;            // the rows are equally high on a logarithmic scale
  std::vector<uint32_t> counts;   // by column, in it by row
  uint64_t inside = 0;
  uint64_t below = 0;   // events under the lowest row
  uint64_t above = 0;   // events over the highest
  uint64_t beyond = 0;  // events in columns that were asked to be left out

  [[nodiscard]] size_t rows() const { return row_edges.empty() ? 0 : row_edges.size() - 1; }
  [[nodiscard]] uint32_t count(size_t column, size_t row) const {
    return counts[column * rows() + row];
  }
};

}  // namespace sonde::view
