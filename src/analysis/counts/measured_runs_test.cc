#include "analysis/counts/measured_runs.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using MetricStatus = MeasuredMetric::Status;
using RowStatus = view::CountRow::Status;

CountedEvent event(uint32_t type, uint64_t config) {
  CountedEvent result;
  result.type = type;
  result.config = config;
  return result;
}

const std::vector<CountedEvent> kEvents = {event(abi::kTypeSoftware, abi::kSwTaskClock),
                                           event(abi::kTypeSoftware, abi::kSwPageFaults),
                                           event(abi::kTypeHardware, abi::kHwCpuCycles)};

view::CountPage page(double clock, double faults, RowStatus cycles) {
  view::CountPage page;
  page.units.resize(1);
  page.events.resize(3);
  page.events[0].name = "task-clock";
  page.events[1].name = "page-faults";
  page.events[2].name = "cycles";
  page.rows.resize(3);
  for (uint32_t i = 0; i < 3; ++i) page.rows[i].event = i;
  page.rows[0].value = clock;
  page.rows[1].value = faults;
  page.rows[2].value = 1000;
  page.rows[2].status = cycles;
  return page;
}

TEST(MeasuredRuns, KeepTheValuesOfEveryRun) {
  MeasuredRuns runs;
  runs.add(page(1.5, 40, RowStatus::kCounted), kEvents, {2'000'000, 1'500'000, 500'000});
  runs.add(page(1.25, 41, RowStatus::kCounted), kEvents, {1'000'000, 1'000'000, 0});
  EXPECT_EQ(runs.runs, 2u);
  ASSERT_EQ(runs.metrics.size(), 6u);
  EXPECT_EQ(runs.metrics[0].values, (std::vector{1.5, 1.25}));
  EXPECT_EQ(runs.metrics[1].values, (std::vector<double>{40, 41}));
  EXPECT_EQ(runs.metrics[3].name, "elapsed");
  EXPECT_DOUBLE_EQ(runs.metrics[3].values[0], 0.002);
  EXPECT_EQ(runs.metrics[4].name, "user");
  EXPECT_DOUBLE_EQ(runs.metrics[4].values[1], 0.001);
  EXPECT_EQ(runs.metrics[5].name, "sys");
  EXPECT_EQ(runs.metrics[5].values[1], 0);
}

TEST(MeasuredRuns, WhatMissesARunIsNotCounted) {
  MeasuredRuns runs;
  runs.add(page(1, 1, RowStatus::kCounted), kEvents, {});
  runs.add(page(1, 1, RowStatus::kNotCounted), kEvents, {});
  runs.add(page(1, 1, RowStatus::kCounted), kEvents, {});
  EXPECT_EQ(runs.metrics[2].status, MetricStatus::kNotCounted);
  MeasuredRuns without;
  without.add(page(1, 1, RowStatus::kNotSupported), kEvents, {});
  without.add(page(1, 1, RowStatus::kNotCounted), kEvents, {});
  EXPECT_EQ(without.metrics[2].status, MetricStatus::kNotSupported);
  EXPECT_EQ(without.metrics[0].status, MetricStatus::kCounted);
}

TEST(MeasuredRuns, ASlowerMachineShowsInTimesAndCycles) {
  MeasuredRuns runs;
  runs.add(page(1, 1, RowStatus::kCounted), kEvents, {});
  EXPECT_TRUE(runs.metrics[0].goes_by_pace);
  EXPECT_FALSE(runs.metrics[1].goes_by_pace) << "page faults don't come faster";
  EXPECT_TRUE(runs.metrics[2].goes_by_pace);
  EXPECT_TRUE(runs.metrics[3].goes_by_pace);
}

}  // namespace
}  // namespace sonde
