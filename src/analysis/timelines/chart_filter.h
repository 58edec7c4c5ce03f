// Which threads `timechart` shows, and which of them it highlights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perfdata/header/features.h"
#include "view/timeline.h"

namespace sonde {

/// --highlight: runs longer than a time, or threads with a name.
struct ChartHighlight {
  std::optional<uint64_t> longer_than_ns;
  std::string name;
};
/// A number is nanoseconds, anything else a name.
[[nodiscard]] ChartHighlight parse_highlight(std::string_view text);
void mark(view::Timeline& timeline, const ChartHighlight& highlight);

/// Keeps `processes`, by name or pid. If there are none: the threads that did most, at least
/// `at_least` of them if there are that many. The run time required of a thread (for I/O, the bytes
/// moved) starts at 10 ms (1 MiB) and is divided by ten until enough threads qualify.
void choose_chart_threads(view::Timeline& timeline, const std::vector<std::string>& processes,
                          size_t at_least);

/// Puts CPUs that share a core, and cores that share a socket, next to each other. False if the
/// recording has no CPU topology.
bool sort_cpus_by_topology(view::Timeline& timeline, const Features& features);

}  // namespace sonde
