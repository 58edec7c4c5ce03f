// Which threads `timechart` shows, and which of them stand out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perfdata/features.h"
#include "view/timeline.h"

namespace sonde {

/// --highlight: runs that are longer, or threads of that name.
struct ChartHighlight {
  std::optional<uint64_t> longer_than_ns;
  std::string name;
};
/// A number is nanoseconds, everything else a name.
[[nodiscard]] ChartHighlight parse_highlight(std::string_view text);
void mark(view::Timeline& timeline, const ChartHighlight& highlight);

/// Processes by name or pid; empty: those that did most, at least `at_least` threads if there are
/// so many. How long a thread must have run (or for I/O, how many bytes it must have moved) begins
/// with 10 ms (1 MiB) and goes down by tens.
void choose_chart_threads(view::Timeline& timeline, const std::vector<std::string>& processes,
                          size_t at_least);

/// Brings CPUs that share a core, and cores that share a socket, side by side; false where the
/// recording does not say which do.
bool sort_cpus_by_topology(view::Timeline& timeline, const Features& features);

}  // namespace sonde
