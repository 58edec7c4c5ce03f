#include <gtest/gtest.h>

#include "export/pictures/timeline_svg.h"

namespace sonde {
namespace {

view::Timeline one_cpu(std::vector<view::TimelineRun> runs) {
  view::Timeline timeline;
  timeline.start_ns = runs.front().start_ns;
  timeline.end_ns = runs.back().end_ns;
  timeline.cpus.emplace_back().runs = std::move(runs);
  return timeline;
}

TEST(TimelineJoin, ShortNeighboursBecomeWhatMostOfTheTimeWas) {
  view::Timeline timeline = one_cpu({{.start_ns = 0, .end_ns = 100, .thread = 1},
                                     {.start_ns = 100, .end_ns = 400, .thread = 2},
                                     {.start_ns = 400, .end_ns = 600, .thread = 1},
                                     {.start_ns = 600, .end_ns = 900'000, .thread = 3}});
  EXPECT_EQ(join_short_slices(timeline, 2), 1000u);
  const auto& runs = timeline.cpus[0].runs;
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].thread, 1u) << "as long as 2, and there first";
  EXPECT_EQ(runs[0].start_ns, 0u);
  EXPECT_EQ(runs[0].end_ns, 600u);
  EXPECT_EQ(runs[1].thread, 3u);
}

TEST(TimelineJoin, UnknownSpansOfACpuBecomeOneAndNoneIsForgotten) {
  view::Timeline timeline = one_cpu({{.start_ns = 0, .end_ns = 9'000'000, .thread = 1}});
  timeline.unknown = {{.start_ns = 0, .end_ns = 100, .cpu = 0},
                      {.start_ns = 50, .end_ns = 90, .cpu = 1},
                      {.start_ns = 300, .end_ns = 400, .cpu = 0},
                      {.start_ns = 5'000'000, .end_ns = 5'000'100, .cpu = 0}};
  EXPECT_EQ(join_short_slices(timeline, 4), 1000u);
  ASSERT_EQ(timeline.unknown.size(), 3u);
  EXPECT_EQ(timeline.unknown[0].cpu, 0u);
  EXPECT_EQ(timeline.unknown[0].end_ns, 400u);
  EXPECT_EQ(timeline.unknown[1].cpu, 1u);
  EXPECT_EQ(timeline.unknown[2].start_ns, 5'000'000u);
}

TEST(TimelineJoin, WhereThereIsRoomAllStay) {
  view::Timeline timeline = one_cpu(
      {{.start_ns = 0, .end_ns = 1, .thread = 1}, {.start_ns = 1, .end_ns = 90'000, .thread = 2}});
  EXPECT_EQ(join_short_slices(timeline, 2), 0u);
  EXPECT_EQ(timeline.cpus[0].runs.size(), 2u);
}

/// As many threads as runs: time must be linear in their number, not quadratic.
TEST(TimelineJoin, ManyThreadsInOneInstant) {
  std::vector<view::TimelineRun> runs;
  constexpr uint32_t kThreads = 200'000;
  for (uint32_t i = 0; i < kThreads; ++i) runs.push_back({.thread = i});
  runs.push_back({.start_ns = 0, .end_ns = 1'000'000, .thread = kThreads});
  view::Timeline timeline = one_cpu(std::move(runs));
  join_short_slices(timeline, 100);
  EXPECT_EQ(timeline.cpus[0].runs.size(), 2u);
}

}  // namespace
}  // namespace sonde
