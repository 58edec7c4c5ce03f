// A flame graph as one SVG file: a picture for any viewer, and interactive where scripts run (a
// browser): click to zoom, search, keys, the view in the URL. Loads nothing from elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "base/sink.h"
#include "export/pictures/flame_graph.h"

namespace sonde {

void write_flame_svg(Sink& out, const FlameGraph& graph, const FlameOptions& options);

/// src/export/pictures/flame_svg.js, which is embedded in the picture.
[[nodiscard]] std::string_view flame_svg_script();
/// Whether names may be in this encoding: UTF-8, or a single-byte encoding.
[[nodiscard]] bool is_flame_encoding(std::string_view name);

}  // namespace sonde
