// A timeline as a picture: a lane per CPU, coloured by process, and a lane per thread, coloured by
// state, or with a row for each depth of its calls. One SVG file: as an image it shows the whole
// time; in a browser it zooms, pans, and shows what is under the pointer, with the stacks of the
// waiter and the waker.
#pragma once

#include <string>

#include "base/sink.h"
#include "view/timeline.h"

namespace sonde {

struct TimelineStyle {
  std::string title = "Timeline";
  static constexpr double kMinWidth = 600, kMaxWidth = 20'000;
  double width = 1200;       // px
  size_t max_threads = 200;  // lanes of threads
  size_t max_slices = 100'000;
};

/// What the picture had no room for.
struct TimelineLimits {
  size_t threads_drawn = 0;
  size_t threads_left_out = 0;   // of the threads that are shown
  uint64_t joined_below_ns = 0;  // shorter neighbours are joined even when zoomed in; 0: none
};

TimelineLimits write_timeline_svg(Sink& out, const view::Timeline& timeline,
                                  const TimelineStyle& style);

/// Joins neighbouring slices of a lane that are shorter than some time: the smallest, in powers of
/// two, that leaves at most `max_slices`. The result has the kind that took up most of the time.
/// Calls that are shorter are left out.
/// Returns that time, or 0 if there was nothing to do.
uint64_t join_short_slices(view::Timeline& timeline, size_t max_slices);

}  // namespace sonde
