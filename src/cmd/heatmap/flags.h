// The options of `heatmap`: where the points come from, and how they are drawn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "export/pictures/heat_map_grid.h"
#include "export/pictures/heat_map_svg.h"
#include "symbol/symbolizer.h"

namespace sonde {

struct HeatMapOptions {
  std::optional<std::string> input;
  std::string output;
  bool force = false;
  SymbolOptions symbols;

  // Where points come from.
  std::vector<std::string> from, to, key;
  bool nested = false;
  std::string event, field;
  bool by_second = false;
  std::string time;
  std::string range;  // a time range; its flame graph is drawn instead
  std::vector<uint32_t> pids, tids;

  // How they are drawn.
  std::string unit_of_time = "s";
  std::string unit_of_values;
  std::string least, largest, row_step;  // amounts
  std::optional<size_t> rows, last_column;
  std::optional<double> column_s;
  std::optional<HeatScale> scale;
  std::optional<std::string> title, x_label, y_label;
  HeatMapStyle style;

  [[nodiscard]] bool needs_recording() const {
    return !from.empty() || !to.empty() || !event.empty() || by_second;
  }
};

void declare_heatmap_flags(FlagTable& flags, HeatMapOptions& options);
/// Rejects options that exclude each other.
Result<> check_heatmap_options(const HeatMapOptions& options);

/// 1 for "s", 1000 for "ms" …: how many of the unit make a second.
Result<double> per_second(std::string_view unit);
/// Limits and steps for make_heat_map. If values are times (in ns), amounts may have a unit
/// ("20us"); those without are in --unitslatency, or else in microseconds.
Result<HeatGridOptions> grid_options(const HeatMapOptions& options, bool values_are_times);

}  // namespace sonde
