// What the lanes of a timeline picture consist of: the kinds of spans that CPUs and threads have,
// how each is drawn, and its name in the legend.
#pragma once

#include <string>
#include <vector>

#include "export/pictures/lane_painter.h"
#include "view/timeline.h"

namespace sonde {

inline constexpr size_t kProcessColors = 9;  // plus one for all others
inline constexpr size_t kSleepDepths = 6;    // deeper ones look like the last

/// For a CPU's lane: processes by colour, what is unknown, then sleep states.
[[nodiscard]] std::vector<LaneKind> cpu_lane_kinds(double height);
[[nodiscard]] size_t sleep_kind(uint32_t state);
[[nodiscard]] size_t unknown_kind();
/// For a thread's lane: states, the last of which is for marked runs; or kinds of I/O, with input
/// in the upper half and output in the lower half.
[[nodiscard]] std::vector<LaneKind> thread_lane_kinds(const view::Timeline& timeline,
                                                      double height);
[[nodiscard]] size_t lane_kind(const view::TimelineSlice& slice);

struct LegendEntry {
  std::string css_class, text;
};
[[nodiscard]] std::vector<LegendEntry> thread_legend(const view::Timeline& timeline);
/// For what is unknown, the sleep states that occur, and the frequency line.
[[nodiscard]] std::vector<LegendEntry> power_legend(const view::Timeline& timeline);

/// A CPU's frequency as a line across a lane of that size; empty if not known. The upper edge of
/// the lane is the highest frequency of all CPUs.
[[nodiscard]] std::string frequency_path(const view::Timeline& timeline,
                                         const view::TimelineCpu& cpu, double width, double height);
[[nodiscard]] uint64_t highest_frequency(const view::Timeline& timeline);

}  // namespace sonde
