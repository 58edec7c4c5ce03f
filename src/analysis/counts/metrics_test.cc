#include "analysis/counts/metrics.h"

#include <gtest/gtest.h>

#include "event/pmu/event_name.h"

namespace sonde {
namespace {

CountedEvent event(std::string name, uint32_t type, uint64_t config, uint8_t excluded = 0) {
  CountedEvent result;
  result.name = std::move(name);
  result.type = type;
  result.config = config;
  result.excluded = excluded;
  return result;
}

const CountedEvent kCycles = event("cycles", abi::kTypeHardware, abi::kHwCpuCycles);
const CountedEvent kInstructions = event("instructions", abi::kTypeHardware, abi::kHwInstructions);
const CountedEvent kStalled =
    event("stalled-cycles-frontend", abi::kTypeHardware, abi::kHwStalledCyclesFrontend);
const CountedEvent kBranches = event("branches", abi::kTypeHardware, abi::kHwBranchInstructions);
const CountedEvent kMisses = event("branch-misses", abi::kTypeHardware, abi::kHwBranchMisses);
const CountedEvent kClock = event("task-clock", abi::kTypeSoftware, abi::kSwTaskClock);
const CountedEvent kFaults = event("page-faults", abi::kTypeSoftware, abi::kSwPageFaults);

std::string text(const std::vector<view::CountMetric>& metrics) {
  std::string all;
  for (const view::CountMetric& metric : metrics)
    all +=
        fmt::format("[{} {}]", metric.value ? fmt::format("{:.3f}", metric.shown_value()) : "none",
                    metric.shown_unit());
  return all;
}

std::string of(const CountedEvent& counted, double count, const MetricInputs& inputs) {
  return text(metrics_of(counted, count, inputs, {}));
}

TEST(Metrics, EventsOfPmusAreKnownByTheirNames) {
  CountedEvent cycles = kCycles, aperf = event("msr/aperf/", 9, 1), smi = event("msr/smi/", 9, 4);
  MetricInputs inputs;
  inputs.add(cycles, 9e5);
  inputs.add(smi, 3);
  EXPECT_EQ(of(smi, 3, inputs), "") << "the other counter is missing";
  inputs.add(aperf, 1e6);
  EXPECT_EQ(of(smi, 3, inputs), "[10.000 SMI cycles%][3.000 SMI#]");
  CountedEvent issued = event("topdown-slots-issued", 4, 0x10e);
  inputs.add(event("topdown-total-slots:u", 4, 0x3c), 1000);
  inputs.add(issued, 700);
  inputs.add(event("topdown-slots-retired", 4, 0x2c2), 600);
  inputs.add(event("topdown-fetch-bubbles", 4, 0x19c), 100);
  inputs.add(event("topdown-recovery-bubbles", 4, 0x30d), 50);
  EXPECT_EQ(of(issued, 700, inputs), "[15.000 backend bound]");
}

TEST(Metrics, InstructionsPerCycleAndStalls) {
  MetricInputs inputs;
  inputs.add(kCycles, 2.5e9);
  inputs.add(kInstructions, 5e9);
  EXPECT_EQ(of(kInstructions, 5e9, inputs), "[2.000 insn per cycle]");
  inputs.add(kStalled, 9e8);
  EXPECT_EQ(of(kInstructions, 5e9, inputs),
            "[2.000 insn per cycle][0.180 stalled cycles per insn]");
  EXPECT_EQ(of(kStalled, 9e8, inputs), "[36.000 frontend cycles idle]");
}

TEST(Metrics, WhatIsMissingGivesNoNumber) {
  MetricInputs inputs;
  inputs.add(kInstructions, 5e9);
  EXPECT_EQ(of(kInstructions, 5e9, inputs), "[none insn per cycle]");
  EXPECT_EQ(of(kMisses, 5, inputs), "[none of all branches]");
  EXPECT_EQ(of(kFaults, 5, inputs), "") << "no clock, no rate";
  inputs.add(kBranches, 0);
  EXPECT_EQ(of(kMisses, 5, inputs), "[0.000 of all branches]") << "a share of nothing";
}

TEST(Metrics, ClocksGiveRatesWithPrefixes) {
  MetricInputs inputs;
  inputs.set_elapsed_ns(2e9);
  inputs.add(kClock, 1e9);
  EXPECT_EQ(of(kClock, 1e9, inputs), "[0.500 CPUs utilized]");
  EXPECT_EQ(of(kFaults, 120, inputs), "[120.000 /sec]");
  EXPECT_EQ(of(kFaults, 1000, inputs), "[1000.000 /sec]");
  EXPECT_EQ(of(kFaults, 16568, inputs), "[16.568 K/sec]");
  EXPECT_EQ(of(kFaults, 7e7, inputs), "[70.000 M/sec]");
  inputs.add(kCycles, 2.5e9);
  EXPECT_EQ(of(kCycles, 2.5e9, inputs), "[2.500 GHz]");
}

TEST(Metrics, ModesDoNotMixButTheClockIsOne) {
  MetricInputs inputs;
  constexpr uint8_t kUserOnly = 2;
  inputs.add(event("cycles:u", abi::kTypeHardware, abi::kHwCpuCycles, kUserOnly), 1e9);
  EXPECT_EQ(of(kInstructions, 1e9, inputs), "[none insn per cycle]");
  CountedEvent user = kInstructions;
  user.excluded = kUserOnly;
  EXPECT_EQ(of(user, 5e8, inputs), "[0.500 insn per cycle]");
  inputs.add(event("task-clock:u", abi::kTypeSoftware, abi::kSwTaskClock, kUserOnly), 1e9);
  EXPECT_EQ(of(kFaults, 7, inputs), "[7.000 /sec]");
}

TEST(Metrics, CgroupsDoNotMix) {
  MetricInputs inputs;
  CountedEvent cycles = kCycles;
  cycles.cgroup = "a";
  inputs.add(cycles, 1e9);
  CountedEvent other = kInstructions;
  other.cgroup = "b";
  EXPECT_EQ(of(other, 1e9, inputs), "[none insn per cycle]");
  other.cgroup = "a";
  EXPECT_EQ(of(other, 1e9, inputs), "[1.000 insn per cycle]");
}

TEST(Metrics, AnEventThatStandsTwiceCountsAsItsMean) {
  MetricInputs inputs;
  inputs.add(kCycles, 1e9);
  inputs.add(kCycles, 3e9);
  EXPECT_EQ(of(kInstructions, 1e9, inputs), "[0.500 insn per cycle]");
}

TEST(Metrics, GradesRise) {
  MetricInputs inputs;
  inputs.add(kBranches, 100);
  auto level = [&](double misses) {
    MetricInputs all = inputs;
    all.add(kMisses, misses);
    return metrics_of(kMisses, misses, all, {})[0].level;
  };
  using Level = view::CountMetric::Level;
  EXPECT_EQ(level(1), Level::kPlain);
  EXPECT_EQ(level(6), Level::kNotable);
  EXPECT_EQ(level(11), Level::kHigh);
  EXPECT_EQ(level(21), Level::kVeryHigh);
}

TEST(Metrics, AreFoundByNameWithTheEventsTheyNeed) {
  const MetricInfo* metric = find_metric("INSN_per_cycle");
  ASSERT_NE(metric, nullptr);
  EXPECT_EQ(metric->events, (std::vector<std::string>{"instructions", "cycles"}));
  EXPECT_EQ(metric->expression, "instructions / cycles");
  const MetricInfo* stalled = find_metric("stalled_per_insn");
  ASSERT_NE(stalled, nullptr);
  EXPECT_EQ(stalled->events, (std::vector<std::string>{"instructions", "stalled-cycles-frontend",
                                                       "stalled-cycles-backend"}));
  EXPECT_EQ(find_metric("nothing"), nullptr);
}

TEST(Metrics, AChoiceLeavesOutTheOthers) {
  MetricInputs inputs;
  inputs.add(kClock, 1e9);
  EXPECT_EQ(text(metrics_of(kFaults, 7, inputs, {.names = {"ghz"}})), "");
  EXPECT_EQ(text(metrics_of(kFaults, 7, inputs, {.names = {"page_faults_per_second"}})),
            "[7.000 /sec]");
}

/// An event as it would be counted, if it is one of those that the kernel names.
CountedEvent event_named(const std::string& name) {
  std::pair<uint32_t, std::vector<uint64_t>> kinds[] = {
      {abi::kTypeHardware, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
      {abi::kTypeSoftware, {0, 1, 2, 3, 4}},
      {abi::kTypeHwCache, {}}};
  for (uint64_t cache = 0; cache < 5; ++cache)
    for (uint64_t result : {uint64_t{0}, uint64_t{0x10000}})
      kinds[2].second.push_back(cache | result);
  for (const auto& [type, configs] : kinds)
    for (uint64_t config : configs) {
      abi::EventAttr attr;
      attr.type = type;
      attr.config = config;
      attr.exclude_guest = 1;
      if (event_name(attr) == name) return event(name, type, config);
    }
  constexpr uint32_t kSomePmu = 100;
  return event(name, kSomePmu, 1);
}

TEST(Metrics, WhatIsAskedForByNameIsShownInAColumn) {
  for (const MetricInfo& metric : all_metrics()) {
    MetricInputs inputs;
    inputs.set_elapsed_ns(2e9);
    std::vector<CountedEvent> counted;
    for (const std::string& name : metric.events) counted.push_back(event_named(name));
    double count = 1e6;
    for (const CountedEvent& one : counted) inputs.add(one, count += 1000);
    size_t shown = 0;
    count = 1e6;
    for (const CountedEvent& one : counted)
      for (const view::CountMetric& value :
           metrics_of(one, count += 1000, inputs, {.names = {std::string(metric.name)}})) {
        EXPECT_TRUE(value.value) << metric.name;
        EXPECT_TRUE(value.is_column) << metric.name;
        ++shown;
      }
    EXPECT_EQ(shown, 1u) << metric.name;
  }
}

TEST(Metrics, RatesSayInTheirTitlesOfWhat) {
  MetricInputs inputs;
  inputs.add(kClock, 1e9);
  std::vector<view::CountMetric> rate = metrics_of(kFaults, 16568, inputs, {});
  ASSERT_EQ(rate.size(), 1u);
  EXPECT_EQ(rate[0].title, "page-faults/sec");
  EXPECT_FALSE(rate[0].is_column) << "nobody asked for it";
}

}  // namespace
}  // namespace sonde
