// A heat map as one SVG file: a box per cell that has events, darker the more there are, with what
// it stands for as its tooltip. In a browser a range of time is chosen by two clicks, and the
// picture says with which words commands take it.
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
  std::optional<double> box_size;  // px, width and height; else what fits the page
  bool grid = false;
  std::optional<double> ns_per_value;  // of values that are times, written as "1.5 ms"
  std::string unit;                    // of other values: " bytes"
  /// Columns are seconds of the clock, rows are offsets (make_second_map).
  bool is_second_map = false;
  /// Where the first column begins, on the recording's clock. Without it no range can be chosen.
  std::optional<uint64_t> clock_start_ns;
  /// What stands before and behind a chosen range: "sonde heatmap --subsecond --range ".
  std::string before_range, behind_range;
};

void write_heat_map_svg(Sink& out, const view::HeatMap& map, const HeatMapStyle& style);

}  // namespace sonde
