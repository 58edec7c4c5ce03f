#include "export/pictures/timeline_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "export/pictures/timeline_json.h"

namespace sonde {
namespace {

LaneKind centred(std::string_view css_class, double full, double share) {
  double height = std::max(1.0, std::round(full * share));
  return {css_class, 1 + std::floor((full - height) / 2), height};
}

}  // namespace

std::vector<LaneKind> cpu_lane_kinds(double height) {
  static constexpr std::string_view kProcesses[] = {"p0", "p1", "p2", "p3", "p4",
                                                    "p5", "p6", "p7", "p8", "p9"};
  static constexpr std::array<std::string_view, kSleepDepths> kSleeps{"i1", "i2", "i3",
                                                                      "i4", "i5", "i6"};
  std::vector<LaneKind> kinds;
  for (std::string_view css_class : kProcesses) kinds.push_back({css_class, 1, height - 2});
  kinds.push_back({"u", 1, height - 2});
  // The deeper the sleep, the thinner the bar.
  double full = height - 2;
  for (size_t depth = 0; depth < kSleepDepths; ++depth) {
    double own = std::max(2.0, std::round(full * (0.6 - 0.08 * static_cast<double>(depth))));
    kinds.push_back({kSleeps[depth], 1 + full - own, own});
  }
  return kinds;
}

size_t sleep_kind(uint32_t state) {
  size_t depth = std::clamp<size_t>(state, 1, kSleepDepths) - 1;
  return unknown_kind() + 1 + depth;
}

size_t unknown_kind() {
  return kProcessColors + 1;
}

std::vector<LaneKind> thread_lane_kinds(const view::Timeline& timeline, double height) {
  double full = height - 2;
  if (timeline.subject != view::TimelineSubject::kIo)
    // Waits are drawn thinner than runs.
    return {centred("s0", full, 1),   centred("s1", full, 1),   centred("s2", full, 0.2),
            centred("s3", full, 0.5), centred("s4", full, 0.5), centred("s5", full, 1)};
  double half = std::floor(full / 2);
  LaneKind in{"k0", 1, half}, out{"k0", 1 + full - half, half};
  LaneKind net_in = in, net_out = out, sync = out;
  net_in.css_class = net_out.css_class = "k1";
  sync.css_class = "k2";
  return {in, out, net_in, net_out, sync, centred("k3", full, 0.2), centred("k4", full, 1)};
}

size_t lane_kind(const view::TimelineSlice& slice) {
  return slice.is_marked ? view::kTaskStates : static_cast<size_t>(slice.state);
}

std::vector<LegendEntry> thread_legend(const view::Timeline& timeline) {
  if (timeline.subject == view::TimelineSubject::kCalls) return {};
  if (timeline.subject == view::TimelineSubject::kIo)
    return {{"k0", "files (above: read, below: written)"},
            {"k1", "network (in, out)"},
            {"k2", "sync"},
            {"k3", "poll"},
            {"k4", "failed"}};
  std::vector<LegendEntry> entries{{"s0", "running"},
                                   {"s1", "waits for a CPU"},
                                   {"s2", "sleeps"},
                                   {"s3", "uninterruptible (disk, lock)"},
                                   {"s4", "stopped"}};
  auto has_mark = [](const view::TimelineThread& thread) {
    return std::ranges::any_of(thread.slices, &view::TimelineSlice::is_marked);
  };
  if (std::ranges::any_of(timeline.threads, has_mark)) entries.push_back({"s5", "highlighted"});
  return entries;
}

std::vector<LegendEntry> power_legend(const view::Timeline& timeline) {
  std::array<bool, kSleepDepths> occurs{};
  bool is_deeper = false;
  for (const view::TimelineCpu& cpu : timeline.cpus)
    for (const view::TimelineIdle& idle : cpu.idles) {
      occurs[sleep_kind(idle.state) - unknown_kind() - 1] = true;
      is_deeper |= idle.state > kSleepDepths;
    }
  std::vector<LegendEntry> entries;
  if (!timeline.unknown.empty() && !timeline.cpus.empty()) entries.push_back({"u", "not recorded"});
  for (size_t depth = 1; depth <= kSleepDepths; ++depth) {
    if (!occurs[depth - 1]) continue;
    std::string_view more = depth == kSleepDepths && is_deeper ? " and deeper" : "";
    entries.push_back({fmt::format("i{}", depth), fmt::format("asleep, C{}{}", depth, more)});
  }
  if (uint64_t highest = highest_frequency(timeline); highest > 0)
    entries.push_back(
        {"fl", fmt::format("frequency, up to {:.2f} GHz", static_cast<double>(highest) / 1e6)});
  return entries;
}

uint64_t highest_frequency(const view::Timeline& timeline) {
  uint64_t highest = 0;
  for (const view::TimelineCpu& cpu : timeline.cpus)
    for (const view::TimelineFrequency& from : cpu.frequencies)
      highest = std::max(highest, from.khz);
  return highest;
}

std::string frequency_path(const view::Timeline& timeline, const view::TimelineCpu& cpu,
                           double width, double height) {
  auto highest = static_cast<double>(highest_frequency(timeline));
  if (cpu.frequencies.empty() || highest <= 0) return {};
  double per_px = std::max(1.0, static_cast<double>(timeline.end_ns - timeline.start_ns)) / width;
  std::string path;
  for (const view::TimelineFrequency& from : cpu.frequencies) {
    double x = static_cast<double>(from.time_ns - timeline.start_ns) / per_px;
    double y = height - 1 - (height - 2) * static_cast<double>(from.khz) / highest;
    if (path.empty())
      fmt::format_to(std::back_inserter(path), "M{:.1f} {:.1f}", x, y);
    else
      fmt::format_to(std::back_inserter(path), "H{:.1f}V{:.1f}", x, y);
  }
  return fmt::format("<path class=\"freq\" d=\"{}H{:.1f}\"/>", path, width);
}

}  // namespace sonde
