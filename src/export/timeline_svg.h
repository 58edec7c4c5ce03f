// A timeline as a picture: a lane per CPU, coloured by process, and a lane per thread, coloured by
// what it did. One SVG file; as an image it shows the whole time, in a browser it zooms, moves, and
// says what lies under the pointer, with the stacks of who waited and who woke it.
#pragma once

#include <string>

#include "base/sink.h"
#include "view/timeline.h"

namespace sonde {

struct TimelineStyle {
  std::string title = "Timeline";
  static constexpr double kNarrowest = 600, kWidest = 20'000;
  double width = 1200;       // px
  size_t max_threads = 200;  // lanes of threads
  size_t max_slices = 100'000;
};

/// What of a timeline the picture had no room for.
struct TimelineLimits {
  size_t threads_drawn = 0;
  size_t threads_left_out = 0;   // of those that are shown
  uint64_t joined_below_ns = 0;  // zoomed in, shorter neighbours are one; 0: none are
};

TimelineLimits write_timeline_svg(Sink& out, const view::Timeline& timeline,
                                  const TimelineStyle& style);

/// Joins neighbours of a lane that are shorter than some time, which is the smallest (in steps by
/// two) that leaves at most `max_slices`; what comes of them is what most of their time was. Gives
/// that time, 0 where there was nothing to do.
uint64_t join_short_slices(view::Timeline& timeline, size_t max_slices);

}  // namespace sonde
