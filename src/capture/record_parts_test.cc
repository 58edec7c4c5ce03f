// Small parts of a recording that turn text into decisions.
#include <gtest/gtest.h>

#include "capture/control_channel.h"
#include "capture/cpu_map.h"
#include "capture/delay_schedule.h"
#include "capture/lost_counts.h"
#include "capture/parse_size.h"
#include "capture/proc_maps.h"
#include "capture/ring_set.h"
#include "capture/session_features.h"
#include "capture/workload.h"

namespace sonde {
namespace {

TEST(ParseSize, UnitsAreNeeded) {
  EXPECT_EQ(parse_size("5M"), 5u << 20);
  EXPECT_EQ(parse_size("1k"), 1024u);
  EXPECT_FALSE(parse_size("5"));
  EXPECT_FALSE(parse_size("M"));
  EXPECT_FALSE(parse_size("18446744073709551615G"));
  EXPECT_EQ(parse_duration_ms("2m"), 120'000u);
}

TEST(ParseRingPages, PowersOfTwo) {
  bool rounded = false;
  EXPECT_EQ(parse_ring_pages("3", rounded).value(), 4u);
  EXPECT_TRUE(rounded);
  EXPECT_EQ(parse_ring_pages("8", rounded).value(), 8u);
  EXPECT_FALSE(rounded);
  EXPECT_FALSE(parse_ring_pages("0", rounded));
  EXPECT_FALSE(parse_ring_pages("foo", rounded));
}

TEST(DefaultRingPages, ManyRingsAreSmaller) {
  size_t limited = default_ring_pages(2, false);
  EXPECT_GE(default_ring_pages(2, true), limited);
  EXPECT_EQ(default_ring_pages(100'000, true), limited);
}

TEST(ParseDelay, NumbersRangesAndNonsense) {
  EXPECT_TRUE(parse_delay("-1")->start_disabled);
  EXPECT_EQ(parse_delay("10")->delay_ms, 10u);
  EXPECT_EQ(parse_delay("10-20,30-40")->ranges.size(), 2u);
  EXPECT_FALSE(parse_delay("foo"));
  EXPECT_FALSE(parse_delay("10-5"));
  EXPECT_FALSE(parse_delay("10-20,15-30"));
}

TEST(DelaySchedule, RangesBecomeSteps) {
  DelayOptions options;
  options.ranges = {{10, 20}, {30, 40}};
  using Step = DelaySchedule::Step;
  EXPECT_EQ(DelaySchedule::create(options)->steps(),
            (std::vector<Step>{{10, true}, {20, false}, {30, true}, {40, false}}));
}

TEST(ParseControl, Forms) {
  EXPECT_EQ(parse_control("fd:3,4")->ack_fd, 4);
  EXPECT_EQ(parse_control("fifo:/a")->fifo, "/a");
  for (const char* wrong : {"foo", "fd:", "fd:x", "fifo:", "fd:1,2,3"})
    EXPECT_FALSE(parse_control(wrong)) << wrong;
  EXPECT_EQ(parse_control_command("enable cs").argument, "cs");
  EXPECT_EQ(parse_control_command("bogus").kind, ControlChannel::Command::Kind::kUnknown);
}

TEST(ProcMaps, Lines) {
  auto mapping = parse_proc_mapping(
      "7f1200000000-7f1200001000 r-xp 00002000 fe:01 248139                     /usr/bin/a b");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->start, 0x7f1200000000u);
  EXPECT_EQ(mapping->offset, 0x2000u);
  EXPECT_EQ(mapping->major, 0xfeu);
  EXPECT_TRUE(mapping->executable);
  EXPECT_EQ(mapping->path, "/usr/bin/a b");
  EXPECT_TRUE(parse_proc_mapping("0-1 rw-p 0 00:00 0 ")->path.empty());
  EXPECT_FALSE(parse_proc_mapping("garbage"));
  EXPECT_FALSE(parse_proc_mapping(""));
}

TEST(CpuMap, ListTexts) {
  EXPECT_EQ(cpu_list_text({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(select_cpus("0-1", {0, 1}).value(), (std::vector<int>{0, 1}));
  EXPECT_FALSE(select_cpus("7", {0, 1}));
  EXPECT_FALSE(select_cpus("x", {0, 1}));
}

TEST(LostCounts, BothLayoutsOfRead) {
  ByteBuilder single;
  for (uint64_t word : {5u, 77u, 3u}) single.u64(word);
  EXPECT_EQ(lost_in_values(single.view(), abi::kFormatId | abi::kFormatLost, 77), 3u);
  ByteBuilder group;
  for (uint64_t word : {2u, 5u, 77u, 3u, 6u, 78u, 4u}) group.u64(word);
  uint64_t format = abi::kFormatId | abi::kFormatLost | abi::kFormatGroup;
  EXPECT_EQ(lost_in_values(group.view(), format, 78), 4u);
  EXPECT_EQ(lost_in_values(Bytes{}, format, 78), 0u);
}

TEST(SessionFeatures, CpuInfo) {
  std::string_view text =
      "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
      "model name\t: Intel(R)  Xeon(R) CPU\nstepping\t: 7\n";
  EXPECT_EQ(cpu_id_of(text), "GenuineIntel,6,85,7");
  EXPECT_EQ(cpu_description_of(text), "Intel(R) Xeon(R) CPU");
  EXPECT_FALSE(cpu_id_of("processor: 0\n"));
}

TEST(Workload, IsHeldUntilItIsStartedAndGivesItsStatus) {
  Result<Workload> workload = Workload::fork({"sh", "-c", "exit 7"}, false);
  ASSERT_TRUE(workload);
  EXPECT_FALSE(workload->reap(false));
  workload->start();
  EXPECT_FALSE(workload->exec_error());
  EXPECT_EQ(shell_status(*workload->reap(true)), 7);
}

TEST(Workload, SaysWhyItCannotRun) {
  Result<Workload> workload = Workload::fork({"/nonexistent/program"}, false);
  ASSERT_TRUE(workload);
  workload->start();
  EXPECT_EQ(workload->exec_error(), ENOENT);
  (void)workload->reap(true);
}

}  // namespace
}  // namespace sonde
