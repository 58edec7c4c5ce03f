#include "capture/opening/event_config.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

ParsedEvent software(abi::SoftwareEvent config, std::string name) {
  ParsedEvent event;
  event.attr.type = abi::kTypeSoftware;
  event.attr.config = config;
  event.name = std::move(name);
  return event;
}

Target command() {
  Target target;
  target.kind = Target::Kind::kCommand;
  target.cpus = {0, 1};
  return target;
}

std::vector<CaptureEvent> configure(std::vector<ParsedEvent> events, const SamplingOptions& options,
                                    const Target& target, bool delayed = false) {
  EventList list;
  list.append(std::move(events));
  return configure_events(list, options, {.target = target, .delayed = delayed, .rate = {}});
}

TEST(EventConfig, ACommandsFirstEventTracksAndStartsWithItsExec) {
  auto events = configure({software(abi::kSwCpuClock, "cpu-clock")}, {}, command());
  ASSERT_EQ(events.size(), 1u);
  const abi::EventAttr& attr = events[0].attr();
  EXPECT_EQ(attr.sample_type,
            abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSamplePeriod);
  EXPECT_TRUE(attr.mmap && attr.mmap2 && attr.comm && attr.task && attr.enable_on_exec &&
              attr.disabled);
  EXPECT_EQ(attr.sample_period, 4000u);
}

TEST(EventConfig, TheWholeMachineGetsADummyThatCountsAtOnce) {
  Target target;
  target.cpus = {0};
  auto events = configure({software(abi::kSwCpuClock, "cpu-clock")}, {}, target);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_FALSE(events[0].attr().mmap);
  EXPECT_TRUE(events[1].is_dummy() && events[1].attr().mmap);
  EXPECT_FALSE(events[1].attr().disabled);
  EXPECT_TRUE(events[0].attr().samples(abi::kSampleIdentifier));
}

TEST(EventConfig, SameSampleTypesAreToldApartById) {
  auto events =
      configure({software(abi::kSwCpuClock, "cpu-clock"), software(abi::kSwContextSwitches, "cs")},
                {}, command());
  EXPECT_TRUE(events[0].attr().samples(abi::kSampleId));
  EXPECT_FALSE(events[0].attr().samples(abi::kSampleIdentifier));
}

TEST(EventConfig, FramePointerChainsOfArm64ComeWithTheLinkRegister) {
  EventList list;
  list.append({software(abi::kSwCpuClock, "cpu-clock")});
  SamplingOptions options;
  options.call_graph = CallGraphMode::kFramePointer;
  options.weight = true;
  Target target = command();
  for (abi::Arch arch : {abi::Arch::kArm64, abi::Arch::kX86_64}) {
    bool is_arm64 = arch == abi::Arch::kArm64;
    auto events = configure_events(list, options, {.target = target, .rate = {}, .arch = arch});
    EXPECT_EQ(events[0].attr().sample_regs_user, is_arm64 ? uint64_t{1} << 30 : 0);
    EXPECT_EQ(events[0].attr().samples(abi::kSampleRegsUser), is_arm64);
    EXPECT_EQ(events[0].attr().samples(abi::kSampleWeight), is_arm64);
    EXPECT_EQ(events[0].attr().samples(abi::kSampleWeightStruct), !is_arm64);
  }
}

TEST(EventConfig, OnlyTheLeaderOfAReadGroupSamples) {
  ParsedEvent leader = software(abi::kSwCpuClock, "cpu-clock");
  ParsedEvent member = software(abi::kSwContextSwitches, "cs");
  leader.sample_read = member.sample_read = true;
  auto events = configure({leader, member}, {}, command());
  // `append` numbers leaders relative to its first event: both have that one as their leader.
  events[1].parsed.leader = 0;
  leader.leader = member.leader = 0;
  events = configure({leader, member}, {}, command());
  EXPECT_EQ(events[1].attr().sample_period, 0u);
  EXPECT_FALSE(events[1].attr().freq);
  EXPECT_FALSE(events[1].attr().disabled);
  EXPECT_TRUE(events[0].attr().inherit);
  EXPECT_TRUE((events[0].attr().read_format & abi::kFormatGroup) != 0);
}

TEST(EventConfig, TermsOfAnEventWin) {
  ParsedEvent event = software(abi::kSwCpuClock, "cpu-clock");
  event.terms.freq = 99;
  event.terms.max_stack = 4;
  event.terms.call_graph = CallGraphTerm::kNone;
  SamplingOptions options;
  options.call_graph = CallGraphMode::kFramePointer;
  auto events = configure({event}, options, command());
  EXPECT_EQ(events[0].attr().sample_period, 99u);
  EXPECT_FALSE(events[0].attr().samples(abi::kSampleCallchain));
}

TEST(SettleRate, RefusesBothAndThrottles) {
  std::vector<std::string> messages;
  SamplingOptions options;
  options.freq = 200000;
  Result<SamplingRate> rate = settle_rate(options, 100000, 4000, messages);
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->freq, 100000u);
  EXPECT_EQ(messages.size(), 1u);
  options.strict_freq = true;
  EXPECT_FALSE(settle_rate(options, 100000, 4000, messages));
  options.period = 5;
  EXPECT_FALSE(settle_rate(options, 100000, 4000, messages));
}

}  // namespace
}  // namespace sonde
