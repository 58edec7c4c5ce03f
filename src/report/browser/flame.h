// The flame graph of a report's samples, from the call paths of its profile.
#pragma once

#include <memory>

#include "report/browser/level.h"
#include "tui/models/flame_view.h"

namespace sonde::report {

/// What a flame graph should show: the part zoomed into.
struct FlameRequest {
  ReportOptions options;
  size_t event = 0;  // table of the level
};
[[nodiscard]] FlameRequest flame_wish(const ReportLevel& from);

/// A stack begins with the command's name.
Result<std::unique_ptr<tui::FlameTree>> make_flame_tree(const OpenRecording& recording,
                                                        FlameRequest request,
                                                        std::string_view tool);

}  // namespace sonde::report
