// A heat map as one SVG file: one box per non-empty cell, darker for more events, with a tooltip
// saying what it stands for. In a browser, two clicks select a time range, and the picture shows
// the option that passes it to commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/sink.h"
#include "view/heat_map.h"

namespace sonde {

struct HeatMapStyle {
  std::string title;
  std::string note;     // below the title
  std::string x_label;  // below the axis
  std::string y_label;  // above the axis
  std::string font_family = "Verdana, DejaVu Sans, sans-serif";
  double font_size = 12;           // px
  std::optional<double> box_size;  // px, width and height; default: what fits the page
  bool grid = false;
  std::optional<double> ns_per_value;  // for values that are times, written as "1.5 ms"
  std::string unit;                    // for other values: " bytes"
  /// Columns are seconds of the clock, rows are offsets (make_second_map).
  bool is_second_map = false;
  /// The start of the first column on the recording's clock. Without it, no range can be selected.
  std::optional<uint64_t> clock_start_ns;
  /// The text before and after a selected range: "sonde heatmap --subsecond --range ".
  std::string before_range, behind_range;
};

void write_heat_map_svg(Sink& out, const view::HeatMap& map, const HeatMapStyle& style);

}  // namespace sonde
