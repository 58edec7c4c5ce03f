#include "analysis/comparison/compare_measured.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using Verdict = view::ComparedMetric::Verdict;
using Outcome = view::ComparedGate::Outcome;

MeasuredMetric metric(std::string name, std::vector<double> values, bool goes_by_pace = false) {
  MeasuredMetric result;
  result.name = std::move(name);
  result.values = std::move(values);
  result.goes_by_pace = goes_by_pace;
  return result;
}

MeasuredRuns runs_of(std::vector<MeasuredMetric> metrics) {
  MeasuredRuns runs;
  runs.runs = metrics[0].values.size();
  runs.metrics = std::move(metrics);
  return runs;
}

std::vector<double> about(double value) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(value * (1 + 0.001 * (i * 7 % 20)));
  return values;
}

std::vector<Gate> gates(std::string_view list) {
  return parse_gates(list).value();
}

TEST(Gates, AreNamesAndLimits) {
  std::vector<Gate> parsed = gates("task-clock>2%, page-faults > 0,cpu/event=1,umask=2/>1e3");
  ASSERT_EQ(parsed.size(), 3u);
  EXPECT_EQ(parsed[0].metric, "task-clock");
  EXPECT_DOUBLE_EQ(parsed[0].limit.amount, 0.02);
  EXPECT_TRUE(parsed[0].limit.is_share);
  EXPECT_EQ(parsed[1].metric, "page-faults");
  EXPECT_FALSE(parsed[1].limit.is_share);
  EXPECT_EQ(parsed[2].metric, "cpu/event=1,umask=2/");
  EXPECT_DOUBLE_EQ(parsed[2].limit.amount, 1000);
  for (const char* wrong : {"", "a", "a>", ">1", "a>x", "a>1%%", "a>-1", "a<1", "a>1,", "a>nan"})
    EXPECT_FALSE(parse_gates(wrong)) << wrong;
}

TEST(CompareMeasured, GatesCloseWhereTheRunsSayMore) {
  MeasuredRuns a = runs_of({metric("task-clock", about(100)), metric("faults", about(50))});
  MeasuredRuns b = runs_of({metric("task-clock", about(110)), metric("faults", about(50))});
  auto found = compare_measured(a, b, RunPlan::kPaired,
                                gates("task-clock>2%,task-clock>20%,task-clock>9.9%,faults>0"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->metrics[0].verdict, Verdict::kWorse);
  EXPECT_EQ(found->metrics[1].verdict, Verdict::kNoDifference);
  EXPECT_EQ(found->gates[0].outcome, Outcome::kExceeded);
  EXPECT_EQ(found->gates[1].outcome, Outcome::kPassed);
  EXPECT_EQ(found->gates[2].outcome, Outcome::kNotShown) << "10% is more, but not by the runs";
  EXPECT_EQ(found->gates[3].outcome, Outcome::kPassed);
}

TEST(CompareMeasured, AGateThatCannotCloseSaysSo) {
  MeasuredRuns a = runs_of({metric("x", {1, 2, 1})}), b = runs_of({metric("x", {7, 8, 9})});
  auto found = compare_measured(a, b, RunPlan::kPaired, gates("x>0"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->gates[0].outcome, Outcome::kTooFewRuns);
  EXPECT_EQ(found->metrics[0].verdict, Verdict::kTooFewRuns);
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_NE(found->notes[0].find("at least 6 of each"), std::string::npos) << found->notes[0];
  EXPECT_EQ(compare_measured(a, b, RunPlan::kPaired, gates("y>0")).error().code, ErrorCode::kUsage);
}

TEST(CompareMeasured, MetricsOfOneSideOnlyAreANote) {
  MeasuredRuns a = runs_of({metric("x", about(1)), metric("old", about(1))});
  MeasuredRuns b = runs_of({metric("new", about(1)), metric("x", about(1))});
  auto found = compare_measured(a, b, RunPlan::kPaired, {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->metrics.size(), 1u);
  EXPECT_EQ(found->notes,
            (std::vector<std::string>{"only A has counts of old", "only B has counts of new"}));
  MeasuredRuns other = runs_of({metric("y", about(1))});
  EXPECT_FALSE(compare_measured(a, other, RunPlan::kPaired, {}));
}

TEST(CompareMeasured, MetricsOfOneNameAreComparedInOrder) {
  MeasuredRuns a = runs_of({metric("x", about(1)), metric("x", about(100))});
  auto found = compare_measured(a, a, RunPlan::kPaired, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->metrics[0].change.value, 1);
  EXPECT_EQ(found->metrics[1].change.value, 1);
}

TEST(CompareMeasured, WhatWasNotCountedOnOneSideIsNotCompared) {
  MeasuredRuns a = runs_of({metric("x", about(1)), metric("cycles", {})});
  a.metrics[1].status = MeasuredMetric::Status::kNotSupported;
  MeasuredRuns b = runs_of({metric("x", about(1)), metric("cycles", about(9))});
  auto found = compare_measured(a, b, RunPlan::kPaired, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->metrics[1].status, view::ComparedMetric::Status::kNotSupported);
  EXPECT_FALSE(compare_measured(a, b, RunPlan::kPaired, gates("cycles>0")));
}

TEST(CompareMeasured, ASlowerMachineIsNoWorseCommand) {
  MeasuredRuns a = runs_of({metric("elapsed", about(100), true), metric("faults", about(100))});
  MeasuredRuns b = runs_of({metric("elapsed", about(110), true), metric("faults", about(110))});
  a.pace_ns = about(1000);
  b.pace_ns = about(1120);
  auto found = compare_measured(a, b, RunPlan::kSeparate, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->metrics[0].verdict, Verdict::kNoDifference);
  EXPECT_EQ(found->metrics[1].verdict, Verdict::kWorse) << "counts don't depend on the pace";
  b.pace_ns = about(1000);
  EXPECT_EQ(compare_measured(a, b, RunPlan::kSeparate, {})->metrics[0].verdict, Verdict::kWorse);
}

}  // namespace
}  // namespace sonde
