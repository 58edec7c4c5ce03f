#include "analysis/timelines/chart_filter.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "analysis/timelines/timeline_part.h"
#include "base/text.h"

namespace sonde {
namespace {

std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

uint64_t weight_of(const view::Timeline& timeline, const view::TimelineThread& thread) {
  if (timeline.subject == view::TimelineSubject::kIo) return thread.io_bytes;
  return thread.state_ns[static_cast<size_t>(view::TaskState::kRunning)];
}

/// "0-3,8" contains 2.
bool list_holds(std::string_view list, uint32_t cpu) {
  for (std::string_view part : split(list, ',')) {
    size_t dash = part.find('-');
    auto from = whole_number(part.substr(0, dash));
    auto to = dash == std::string_view::npos ? from : whole_number(part.substr(dash + 1));
    if (from && to && *from <= cpu && cpu <= *to) return true;
  }
  return false;
}

size_t place_in(const std::vector<std::string>& groups, uint32_t cpu) {
  auto found = std::ranges::find_if(
      groups, [&](const std::string& group) { return list_holds(group, cpu); });
  return static_cast<size_t>(found - groups.begin());
}

}  // namespace

ChartHighlight parse_highlight(std::string_view text) {
  ChartHighlight highlight;
  highlight.longer_than_ns = whole_number(text);
  if (!highlight.longer_than_ns) highlight.name = text;
  return highlight;
}

void mark(view::Timeline& timeline, const ChartHighlight& highlight) {
  for (view::TimelineThread& thread : timeline.threads) {
    bool is_named = !highlight.name.empty() && thread.name == highlight.name;
    thread.is_marked = is_named;
    for (view::TimelineSlice& slice : thread.slices) {
      if (slice.state != view::TaskState::kRunning) continue;
      bool is_long =
          highlight.longer_than_ns && slice.end_ns - slice.start_ns > *highlight.longer_than_ns;
      slice.is_marked = is_named || is_long;
      thread.is_marked |= is_long;
    }
  }
}

void choose_chart_threads(view::Timeline& timeline, const std::vector<std::string>& processes,
                          size_t at_least) {
  if (!processes.empty()) {
    show_threads(timeline, [&](const view::TimelineThread& thread) {
      return std::ranges::any_of(processes, [&](const std::string& process) {
        std::optional<uint64_t> pid = whole_number(process);
        return thread.name == process || thread.process_name == process ||
               (pid && (thread.pid == *pid || thread.tid == *pid));
      });
    });
    return;
  }
  constexpr uint64_t kLongNs = 10'000'000, kManyBytes = 1 << 20, kStep = 10;
  uint64_t threshold = timeline.subject == view::TimelineSubject::kIo ? kManyBytes : kLongNs;
  auto does_enough = [&](const view::TimelineThread& thread) {
    return weight_of(timeline, thread) >= threshold;
  };
  while (threshold > 0 &&
         static_cast<size_t>(std::ranges::count_if(timeline.threads, does_enough)) < at_least)
    threshold /= kStep;
  show_threads(timeline, does_enough);
}

bool sort_cpus_by_topology(view::Timeline& timeline, const Features& features) {
  if (!features.cpu_topology) return false;
  const CpuTopology& topology = *features.cpu_topology;
  std::ranges::stable_sort(timeline.cpus, {}, [&](const view::TimelineCpu& cpu) {
    return std::tuple(place_in(topology.core_siblings, cpu.cpu),
                      place_in(topology.thread_siblings, cpu.cpu), cpu.cpu);
  });
  return true;
}

}  // namespace sonde
