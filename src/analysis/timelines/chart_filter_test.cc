#include "analysis/timelines/chart_filter.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sonde {
namespace {

using view::TaskState;
using view::Timeline;

/// Threads 1, 2, 3 … that ran this long, in processes of the same numbers.
Timeline timeline_of_runs(std::initializer_list<uint64_t> runs_ns) {
  Timeline timeline;
  for (uint64_t ns : runs_ns) {
    view::TimelineThread& thread = timeline.threads.emplace_back();
    thread.tid = thread.pid = static_cast<uint32_t>(timeline.threads.size());
    thread.name = "task" + std::to_string(thread.tid);
    thread.state_ns[0] = ns;
    thread.slices.push_back({.start_ns = 0, .end_ns = ns, .state = TaskState::kRunning});
  }
  return timeline;
}
size_t shown(const Timeline& timeline) {
  return static_cast<size_t>(
      std::ranges::count(timeline.threads, true, &view::TimelineThread::is_shown));
}

TEST(ChartFilter, TheThresholdGoesDownUntilThereAreEnough) {
  constexpr uint64_t kMs = 1'000'000;
  for (auto [at_least, expected] : {std::pair{1u, 2u}, {2u, 2u}, {3u, 4u}, {5u, 5u}, {9u, 5u}}) {
    Timeline timeline = timeline_of_runs({30 * kMs, 10 * kMs, 2 * kMs, kMs, 50});
    choose_chart_threads(timeline, {}, at_least);
    EXPECT_EQ(shown(timeline), expected) << at_least;
  }
}

TEST(ChartFilter, ProcessesAreChosenByNameOrNumber) {
  Timeline timeline = timeline_of_runs({5, 6, 7});
  choose_chart_threads(timeline, {"task3", "1"}, 15);
  EXPECT_TRUE(timeline.threads[0].is_shown);
  EXPECT_FALSE(timeline.threads[1].is_shown);
  EXPECT_TRUE(timeline.threads[2].is_shown);
}

TEST(ChartFilter, NumbersHighlightLongRunsAndNamesThreads) {
  Timeline timeline = timeline_of_runs({500, 1500});
  mark(timeline, parse_highlight("1000"));
  EXPECT_FALSE(timeline.threads[0].is_marked);
  EXPECT_TRUE(timeline.threads[1].slices[0].is_marked);
  mark(timeline, parse_highlight("task1"));
  EXPECT_TRUE(timeline.threads[0].slices[0].is_marked);
  EXPECT_FALSE(timeline.threads[1].is_marked);
}

TEST(ChartFilter, TopologyBringsSiblingsTogether) {
  Timeline timeline;
  for (uint32_t cpu = 0; cpu < 4; ++cpu) timeline.cpus.emplace_back().cpu = cpu;
  Features features;
  EXPECT_FALSE(sort_cpus_by_topology(timeline, features));
  features.cpu_topology.emplace();
  features.cpu_topology->core_siblings = {"0-3"};
  features.cpu_topology->thread_siblings = {"0,2", "1,3"};
  ASSERT_TRUE(sort_cpus_by_topology(timeline, features));
  std::vector<uint32_t> order;
  for (const view::TimelineCpu& cpu : timeline.cpus) order.push_back(cpu.cpu);
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 2, 1, 3}));
}

}  // namespace
}  // namespace sonde
