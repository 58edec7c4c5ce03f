#include "analysis/counts/vendor_metrics.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kLists = R"json({"Events": [
  {"EventName": "INST.ANY", "EventCode": "0xc0"}, {"EventName": "CLOCKS.ALL", "EventCode": "0x3c"}],
 "Metrics": [
  {"MetricName": "CPI", "Formula": "a / b", "UnitOfMeasure": "cycles", "MetricGroup": "Basics;More",
   "Events": [{"Name": "CLOCKS.ALL", "Alias": "a"}, {"Name": "INST.ANY", "Alias": "b"}]},
  {"MetricName": "Busy", "Category": "TMA", "Formula": "100 * ( a / ( 4 * b ) )",
   "UnitOfMeasure": "percent", "MetricGroup": "Basics",
   "Events": [{"Name": "INST.ANY:SUP", "Alias": "a"}, {"Name": "CLOCKS.ALL", "Alias": "b"}]},
  {"MetricName": "Rate", "Formula": "a / d",
   "Events": [{"Name": "INST.ANY:c1:e1", "Alias": "a"}],
   "Constants": [{"Name": "DURATIONTIMEINSECONDS", "Alias": "d"}]},
  {"MetricName": "Slots", "Formula": "a / b",
   "Events": [{"Name": "PERF_METRICS.RETIRING", "Alias": "a"},
              {"Name": "TOPDOWN.SLOTS:perf_metrics", "Alias": "b"}]},
  {"MetricName": "Lost", "Formula": "a", "Events": [{"Name": "NO.EVENT", "Alias": "a"}]},
  {"MetricName": "Suffix", "Formula": "a", "Events": [{"Name": "INST.ANY:,x", "Alias": "a"}]},
  {"MetricName": "Unread", "Formula": "a +", "Events": [{"Name": "INST.ANY", "Alias": "a"}]},
  {"MetricName": "Where", "Formula": "a * s", "Events": [{"Name": "INST.ANY", "Alias": "a"}],
   "Constants": [{"Name": "CHAS_PER_SOCKET", "Alias": "s"}]},
  {"MetricName": "Constant", "Formula": "1"}]})json";

constexpr std::string_view kArm = R"({"events": {"INST_RETIRED": {"code": "0x8"},
  "CPU_CYCLES": {"code": "0x11"}},
  "metrics": {"ipc": {"formula": "INST_RETIRED / CPU_CYCLES", "units": "per cycle"}}})";

class VendorMetricsTest : public testing::Test {
 protected:
  VendorMetricsTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sonde_vendor_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    std::ofstream(directory_ + "/lists.json") << kLists;
    std::ofstream(directory_ + "/arm.json") << kArm;
  }
  ~VendorMetricsTest() override { std::filesystem::remove_all(directory_); }

  CountFormula one(std::string_view name) {
    VendorEvents vendor(directory_);
    Result<std::vector<CountFormula>> found = find_vendor_metrics(name, vendor);
    if (found && found->size() == 1) return found->front();
    ADD_FAILURE() << name << ": " << (found ? "not one" : found.error().message);
    return {};
  }
  std::string error(std::string_view name) {
    VendorEvents vendor(directory_);
    Result<std::vector<CountFormula>> found = find_vendor_metrics(name, vendor);
    return found ? "none" : found.error().message;
  }

  static CountedEvent event(std::string name) {
    CountedEvent counted;
    counted.name = std::move(name);
    counted.type = abi::kTypeRaw;
    return counted;
  }

  std::string directory_;
};

TEST_F(VendorMetricsTest, FindsMetricsAndGroups) {
  EXPECT_THAT(events_of(one("cpi")), ElementsAre("CLOCKS.ALL", "INST.ANY"));
  EXPECT_THAT(events_of(one("tma_busy")), ElementsAre("INST.ANY:k", "CLOCKS.ALL"));
  EXPECT_THAT(events_of(one("Rate")), ElementsAre("cpu/INST.ANY,cmask=1,edge=1/"));
  EXPECT_THAT(events_of(one("Slots")), ElementsAre("slots", "topdown-retiring"));
  EXPECT_THAT(events_of(one("ipc")), ElementsAre("INST_RETIRED", "CPU_CYCLES"));
  VendorEvents vendor(directory_);
  EXPECT_EQ(find_vendor_metrics("basics", vendor).value().size(), 2u);
  EXPECT_TRUE(find_vendor_metrics("nothing", vendor).value().empty());
}

TEST_F(VendorMetricsTest, SaysWhatAMetricLacks) {
  EXPECT_THAT(error("Lost"), HasSubstr("metric Lost: it needs event 'NO.EVENT'"));
  EXPECT_THAT(error("Suffix"), HasSubstr("suffix is unknown"));
  EXPECT_THAT(error("Unread"), HasSubstr("cannot be read: it ends too early"));
  EXPECT_THAT(error("Where"), HasSubstr("it needs 'CHAS_PER_SOCKET', which is not known"));
  EXPECT_THAT(error("Constant"), HasSubstr("has no event"));
}

TEST_F(VendorMetricsTest, AreComputedFromCountsByName) {
  MetricInputs inputs;
  inputs.set_elapsed_ns(2e9);
  inputs.add(event("CLOCKS.ALL"), 300);
  inputs.add(event("INST.ANY"), 600);
  inputs.add(event("INST.ANY:k"), 120);
  inputs.add(event("cpu/INST.ANY,cmask=1,edge=1/"), 50);
  MetricSelection choice{.names = {"CPI", "tma_busy", "Rate"},
                         .formulas = {one("cpi"), one("tma_busy"), one("Rate")}};
  auto metrics = metrics_of(event("CLOCKS.ALL"), 300, inputs, choice);
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics[0].value, 0.5);
  EXPECT_EQ(metrics[0].unit, "CPI (cycles)");
  metrics = metrics_of(event("INST.ANY:k"), 120, inputs, choice);
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics[0].value, 10);
  EXPECT_EQ(metrics[0].unit, "tma_busy");
  metrics = metrics_of(event("cpu/INST.ANY,cmask=1,edge=1/"), 50, inputs, choice);
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics[0].value, 25) << "per second";
}

TEST_F(VendorMetricsTest, HaveNoValueWithoutACount) {
  MetricInputs inputs;
  inputs.add(event("CLOCKS.ALL"), 300);
  MetricSelection choice{.names = {"CPI"}, .formulas = {one("cpi")}};
  auto metrics = metrics_of(event("CLOCKS.ALL"), 300, inputs, choice);
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_FALSE(metrics[0].value);
  // Restricted to user mode for lack of privilege, it is still the same event.
  inputs.add(event("INST.ANY:u"), 100);
  EXPECT_EQ(metrics_of(event("CLOCKS.ALL"), 300, inputs, choice)[0].value, 3);
}

}  // namespace
}  // namespace sonde
