// The callers and callees of one function, side by side on screens that are wide enough, otherwise
// one at a time.
#pragma once

#include "report/browser/level.h"
#include "tui/pages/page.h"

namespace sonde::report {

/// The tables of the page: the same samples, with paths from the function up and down.
struct Sandwich {
  std::string function;
  std::unique_ptr<ReportLevel> callers, callees;
};

/// With the options of a level: for the part zoomed into. Fails if no sample is left.
Result<Sandwich> make_sandwich(const OpenRecording& recording, ReportOptions options,
                               std::string function, std::string_view tool);
/// `event`: which of the levels' tables.
[[nodiscard]] std::unique_ptr<tui::Page> sandwich_page(const tui::Theme& theme, Sandwich sandwich,
                                                       size_t event);

}  // namespace sonde::report
