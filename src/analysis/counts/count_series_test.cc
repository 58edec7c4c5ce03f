#include "analysis/counts/count_series.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using view::CountGrouping;
using Status = view::CountRow::Status;

CountedEvent event(std::string name, uint64_t config = abi::kSwPageFaults) {
  CountedEvent result;
  result.name = std::move(name);
  result.type = abi::kTypeSoftware;
  result.config = config;
  return result;
}

/// Two sockets of two cores; CPU 4 is the second thread of CPU 0.
CpuLocations two_sockets() {
  CpuTopology topology;
  for (uint32_t cpu = 0; cpu < 4; ++cpu)
    topology.cpus.push_back({.core = cpu % 2, .socket = cpu / 2, .die = 0});
  topology.cpus.push_back({.core = 0, .socket = 0, .die = 0});
  return {&topology,
          {{.node = 0, .total_kb = 0, .free_kb = 0, .cpus = "0-1,4"},
           {.node = 1, .total_kb = 0, .free_kb = 0, .cpus = "2-3"}},
          {{3, 64, 1, 1, "Unified", "1M", "0-1,4"}, {3, 64, 1, 1, "Unified", "1M", "2-3"}},
          {8, 9, 8, 8, 8}};
}

const std::vector<int> kCpus{0, 1, 2, 3, 4};

CountSeries series_of(std::vector<CountedEvent> events, CountGrouping grouping,
                      CountSettings settings = {}, const std::vector<int>& cpus = kCpus,
                      const std::vector<CountedThread>& threads = {{}}) {
  CpuLocations places = two_sockets();
  return {std::move(events), CountUnits(grouping, cpus, threads, places),
          CountUnits(CountGrouping::kCore, cpus, threads, places), places, std::move(settings)};
}

EventReadings readings(std::vector<CounterReading> values, std::vector<int> cpus = kCpus) {
  return {.supported = true, .cpus = std::move(cpus), .values = std::move(values)};
}

std::vector<CounterReading> full(std::vector<uint64_t> values) {
  std::vector<CounterReading> all;
  for (uint64_t value : values) all.push_back({value, 1000, 1000});
  return all;
}

std::string text(const view::CountPage& page) {
  std::string all;
  for (const view::CountRow& row : page.rows) {
    const view::CountUnit& unit = page.units[row.unit];
    std::string value = row.status == Status::kCounted      ? fmt::format("{}", row.value)
                        : row.status == Status::kNotCounted ? "not counted"
                                                            : "not supported";
    all += fmt::format("{}{} {}x{} {}\n", unit.head, unit.tail, row.cpus,
                       page.events[row.event].name, value);
  }
  return all;
}

TEST(CountSeries, TheWholeIsScaledByTheSumsOfTheTimes) {
  CountSeries series = series_of({event("a")}, CountGrouping::kAll);
  series.add({readings({{100, 1000, 500}, {50, 1000, 1000}, {}, {}, {}})}, 1);
  view::CountRow row = series.page().rows.at(0);
  EXPECT_EQ(row.value, 200);  // 150 * 2000 / 1500
  EXPECT_NEAR(row.running_percent(), 75, 1e-9);
  EXPECT_EQ(row.enabled_ns, 2000u);
}

TEST(CountSeries, UnitsAreScaledCounterByCounter) {
  CountSeries series = series_of({event("a")}, CountGrouping::kSocket);
  series.add({readings({{100, 1000, 500}, {50, 1000, 1000}, {1, 9, 9}, {1, 9, 9}, {0, 1, 1}})}, 1);
  EXPECT_EQ(text(series.page()), "S0 3xa 250\nS1 2xa 2\n");
}

TEST(CountSeries, WithoutScalingNumbersAreTheHardwares) {
  CountSeries series =
      series_of({event("a")}, CountGrouping::kAll, {.scale = false, .metrics = {}});
  series.add({readings({{100, 1000, 500}}, {0})}, 1);
  EXPECT_EQ(series.page().rows.at(0).value, 100);
}

TEST(CountSeries, EveryGroupingAddsUpToTheSame) {
  std::vector<CounterReading> values = full({1, 10, 100, 1000, 10000});
  const std::pair<CountGrouping, std::string> kExpected[] = {
      {CountGrouping::kAll, " 5xa 11111\n"},
      {CountGrouping::kCpu,
       "CPU0 1xa 1\nCPU1 1xa 10\nCPU2 1xa 100\nCPU3 1xa 1000\nCPU4 1xa 10000\n"},
      {CountGrouping::kCore,
       "S0-D0-C0 2xa 10001\nS0-D0-C1 1xa 10\nS1-D0-C0 1xa 100\nS1-D0-C1 1xa 1000\n"},
      {CountGrouping::kCluster, "S0-D0-CLS8 2xa 10001\nS0-D0-CLS9 1xa 10\nS1-D0-CLS8 2xa 1100\n"},
      {CountGrouping::kDie, "S0-D0 3xa 10011\nS1-D0 2xa 1100\n"},
      {CountGrouping::kSocket, "S0 3xa 10011\nS1 2xa 1100\n"},
      {CountGrouping::kNode, "N0 3xa 10011\nN1 2xa 1100\n"},
      {CountGrouping::kCache, "S0-D0-L3-ID0 3xa 10011\nS1-D0-L3-ID2 2xa 1100\n"},
  };
  for (const auto& [grouping, expected] : kExpected) {
    CountSeries series = series_of({event("a")}, grouping);
    series.add({readings(values)}, 1);
    EXPECT_EQ(text(series.page()), expected);
  }
}

TEST(CountSeries, ACpuThatWasNotCountedLeavesItsUnitUnknown) {
  CountSeries series = series_of({event("a")}, CountGrouping::kSocket);
  std::vector<CounterReading> values = full({1, 10, 100, 1000, 10000});
  values[1] = {};
  series.add({readings(values)}, 1);
  EXPECT_EQ(text(series.page()), "S0 2xa not counted\nS1 2xa 1100\n");
}

TEST(CountSeries, UnsupportedAndNeverRunAreToldApart) {
  CountSeries series = series_of({event("a"), event("b")}, CountGrouping::kAll);
  EventReadings unsupported = readings({{}}, {0});
  unsupported.supported = false;
  series.add({unsupported, readings({{0, 1000, 0}}, {0})}, 1);
  EXPECT_EQ(text(series.page()), " 1xa not supported\n 1xb not counted\n");
}

TEST(CountSeries, ThreadsAreShownBusiestFirst) {
  CountSeries series =
      series_of({event("a")}, CountGrouping::kThread, {.skip_idle_threads = true, .metrics = {}},
                {-1}, {{7, "x"}, {8, "y"}, {9, "z"}});
  series.add({readings(full({5, 0, 50}), {-1})}, 1);
  EXPECT_EQ(text(series.page()), "z9 1xa 50\nx7 1xa 5\n");
}

TEST(CountSeries, RunsGiveMeanAndError) {
  CountSeries series = series_of({event("a")}, CountGrouping::kAll);
  for (uint64_t value : std::vector<uint64_t>{90, 100, 110})
    series.add({readings({{value, 10, 10}}, {0})}, 1);
  view::CountRow row = series.page().rows.at(0);
  EXPECT_EQ(row.value, 100);
  EXPECT_NEAR(row.error_percent, 10 / std::sqrt(3.0), 1e-9);
  EXPECT_EQ(row.runs, (std::vector<double>{90, 100, 110}));
}

TEST(CountSeries, MetricsUseTheCountsOfTheirUnit) {
  CountSeries series = series_of({event("task-clock", abi::kSwTaskClock), event("page-faults")},
                                 CountGrouping::kCpu, {}, {0, 1});
  series.add({readings({{1'000'000'000, 9, 9}, {500'000'000, 9, 9}}, {0, 1}),
              readings({{10, 9, 9}, {20, 9, 9}}, {0, 1})},
             2'000'000'000);
  view::CountPage page = series.page();
  ASSERT_EQ(page.rows.size(), 4u);
  EXPECT_NEAR(page.rows[0].metrics.at(0).value.value(), 0.5, 1e-9);
  EXPECT_NEAR(page.rows[1].metrics.at(0).value.value(), 0.25, 1e-9);
  EXPECT_NEAR(page.rows[2].metrics.at(0).value.value(), 10, 1e-9);
  EXPECT_NEAR(page.rows[3].metrics.at(0).value.value(), 40, 1e-9);
}

TEST(CountSeries, AliasesOnSeveralPmusAreOneRow) {
  CountedEvent first = event("unc"), second = event("unc");
  first.pmu = "box_0";
  second.pmu = "box_1";
  CountSeries merged = series_of({first, second}, CountGrouping::kAll);
  std::vector<EventReadings> counts{readings({{5, 9, 9}}, {0}), readings({{6, 9, 9}}, {0})};
  merged.add(counts, 1);
  EXPECT_EQ(text(merged.page()), " 2xunc 11\n");
  CountSeries apart =
      series_of({first, second}, CountGrouping::kAll, {.merge_aliases = false, .metrics = {}});
  apart.add(counts, 1);
  EXPECT_EQ(text(apart.page()), " 1xunc [box_0] 5\n 1xunc [box_1] 6\n");
}

TEST(CountSeries, APackagesCounterCountsOncePerPackage) {
  CountedEvent energy = event("energy");
  energy.per_package = true;
  CountSeries series = series_of({energy}, CountGrouping::kAll);
  series.add({readings(full({7, 7, 9, 9, 7}))}, 1);
  EXPECT_EQ(series.page().rows.at(0).value, 16);
}

TEST(CountSeries, PercoreAddsUpThreadsOfACore) {
  CountedEvent percore = event("p");
  percore.percore = true;
  std::vector<EventReadings> counts{readings(full({1, 10, 100, 1000, 10000}))};
  CountSeries series = series_of({percore}, CountGrouping::kCpu);
  series.add(counts, 1);
  EXPECT_EQ(text(series.page()),
            "S0-D0-C0 2xp 10001\nS0-D0-C1 1xp 10\nS1-D0-C0 1xp 100\nS1-D0-C1 1xp 1000\n");
  CountSeries by_thread =
      series_of({percore}, CountGrouping::kCpu, {.percore_show_thread = true, .metrics = {}});
  by_thread.add(counts, 1);
  EXPECT_EQ(by_thread.page().rows.at(0).value, 10001);
  EXPECT_EQ(by_thread.page().rows.at(4).value, 10001);
}

TEST(CountDeltas, SnapshotsAreNotSubtracted) {
  CountDeltas deltas;
  CountedEvent snapshot = event("s");
  snapshot.snapshot = true;
  std::vector<CountedEvent> events{event("a"), snapshot};
  deltas.take({readings({{5, 50, 50}}, {0}), readings({{5, 50, 50}}, {0})}, events);
  std::vector<EventReadings> delta =
      deltas.take({readings({{7, 80, 60}}, {0}), readings({{7, 80, 60}}, {0})}, events);
  EXPECT_EQ(delta[0].values[0], (CounterReading{2, 30, 10}));
  EXPECT_EQ(delta[1].values[0], (CounterReading{7, 80, 60}));
}

}  // namespace
}  // namespace sonde
