// The flame graph of a report's samples, out of the call paths of its profile.
#pragma once

#include <memory>

#include "cmd/cmd_report_level.h"
#include "tui/flame_view.h"

namespace sonde::report {

/// With the options of `from`, so of what is zoomed into; a stack begins with the command's name.
/// An error where the recording has no call chains.
Result<std::unique_ptr<tui::FlameTree>> make_flame_tree(const OpenRecording& recording,
                                                        const ReportLevel& from,
                                                        std::string_view tool);

}  // namespace sonde::report
