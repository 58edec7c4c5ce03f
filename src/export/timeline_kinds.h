// What the lanes of a timeline's picture are made of: the kinds of stretches that CPUs and threads
// have, how each is drawn, and what the legend calls it.
#pragma once

#include <string>
#include <vector>

#include "export/lane_painter.h"
#include "view/timeline.h"

namespace sonde {

inline constexpr size_t kProcessColors = 9;  // and one more for all others
inline constexpr size_t kSleepDepths = 6;    // deeper ones look like the last

/// Of a CPU's lane: processes by their colour, then sleep states.
[[nodiscard]] std::vector<LaneKind> cpu_lane_kinds(double height);
[[nodiscard]] size_t sleep_kind(uint32_t state);
/// Of a thread's lane: states, the last one of runs that are marked; or kinds of I/O, what comes in
/// in the upper half, what goes out in the lower one.
[[nodiscard]] std::vector<LaneKind> thread_lane_kinds(const view::Timeline& timeline,
                                                      double height);
[[nodiscard]] size_t lane_kind(const view::TimelineSlice& slice);

struct LegendEntry {
  std::string css_class, text;
};
[[nodiscard]] std::vector<LegendEntry> thread_legend(const view::Timeline& timeline);
/// Of the sleep states that occur; the line of frequencies.
[[nodiscard]] std::vector<LegendEntry> power_legend(const view::Timeline& timeline);

/// How fast a CPU ran as a line across a lane of that size; empty where that is not known. The
/// highest frequency of all CPUs is the lane's upper edge.
[[nodiscard]] std::string frequency_path(const view::Timeline& timeline,
                                         const view::TimelineCpu& cpu, double width, double height);
[[nodiscard]] uint64_t highest_frequency(const view::Timeline& timeline);

}  // namespace sonde
