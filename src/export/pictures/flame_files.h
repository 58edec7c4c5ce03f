// Two small files that flame graphs read: extra attributes for the boxes of functions (--nameattr),
// and previously assigned colours (--cp).
//
//   main<TAB>href=https://example.org/main<TAB>title=The beginning
//   main->rgb(205,2,0)
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "export/pictures/flame_graph.h"

namespace sonde {

using FlameAttributeMap = std::map<std::string, FlameNameAttributes, std::less<>>;
using FlameColorMap = std::map<std::string, std::string, std::less<>>;

/// title, id, class, style, onclick and g_extra apply to the box, href, target and a_extra to a
/// link around it. Any other key is an error that names the line; so is an extra that is not a list
/// of attributes.
Result<FlameAttributeMap> parse_name_attributes(std::string_view text, const std::string& name);

/// Malformed lines are an error, and so are colours that are not rgb(...) or #rrggbb.
Result<FlameColorMap> parse_color_map(std::string_view text, const std::string& name);
[[nodiscard]] std::string color_map_text(const FlameColorMap& colors);

}  // namespace sonde
