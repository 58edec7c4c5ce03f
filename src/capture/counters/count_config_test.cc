#include "capture/counters/count_config.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

ParsedEvent event(std::string name) {
  ParsedEvent parsed;
  parsed.name = std::move(name);
  parsed.attr.type = abi::kTypeSoftware;
  parsed.attr.config = abi::kSwPageFaults;
  return parsed;
}

Target target_of(Target::Kind kind) {
  Target target;
  target.kind = kind;
  return target;
}

TEST(CountConfig, ACommandsCountersStartWithItsExec) {
  CountOptions options;
  options.events.append({event("a")});
  std::vector<CaptureEvent> events = configure_counters(options, target_of(Target::Kind::kCommand));
  const abi::EventAttr& attr = events.at(0).attr();
  EXPECT_TRUE(attr.disabled && attr.enable_on_exec && attr.inherit);
  EXPECT_EQ(attr.sample_period, 0u);
  EXPECT_EQ(attr.sample_type, abi::kSampleIdentifier);
  EXPECT_EQ(attr.read_format, abi::kFormatTotalTimeEnabled | abi::kFormatTotalTimeRunning);
}

TEST(CountConfig, DelayedOrOnCpusTheyAreSwitchedOnByHand) {
  CountOptions options;
  options.events.append({event("a")});
  options.delay.delay_ms = 5;
  EXPECT_FALSE(
      configure_counters(options, target_of(Target::Kind::kCommand))[0].attr().enable_on_exec);
  options.delay = {};
  EXPECT_FALSE(
      configure_counters(options, target_of(Target::Kind::kCpus))[0].attr().enable_on_exec);
}

TEST(CountConfig, GroupsAreReadAsOneAndFollowTheirLeader) {
  CountOptions options;
  std::vector<ParsedEvent> group{event("a"), event("b")};
  options.events.append(std::move(group));
  options.events.append({event("c")});
  options.events.edit()[1].leader = 0;
  std::vector<CaptureEvent> events = configure_counters(options, target_of(Target::Kind::kCommand));
  EXPECT_TRUE(events[0].attr().read_format & abi::kFormatGroup);
  EXPECT_TRUE(events[1].attr().read_format & abi::kFormatGroup);
  EXPECT_FALSE(events[2].attr().read_format & abi::kFormatGroup);
  EXPECT_TRUE(events[0].attr().disabled);
  EXPECT_FALSE(events[1].attr().disabled || events[1].attr().enable_on_exec);
}

TEST(CountConfig, ModesAndInheritanceOfTheCommandLine) {
  CountOptions options;
  options.events.append({event("a")});
  options.no_inherit = options.all_user = true;
  const CaptureEvent counted = configure_counters(options, target_of(Target::Kind::kCommand)).at(0);
  EXPECT_TRUE(counted.attr().exclude_kernel);
  EXPECT_FALSE(counted.attr().inherit);
}

TEST(CountConfig, TasksAreCountedOnAnyCpu) {
  std::vector<std::string> warnings;
  TargetOptions options;
  options.command = {"true"};
  Result<Target> target = resolve_count_target(options, warnings);
  ASSERT_TRUE(target);
  EXPECT_TRUE(target->is_command());
  EXPECT_EQ(target->cpus, std::vector<int>{-1});
  options.all_cpus = true;
  target = resolve_count_target(options, warnings);
  ASSERT_TRUE(target);
  EXPECT_TRUE(target->has_cpu());
  EXPECT_GE(target->cpus.at(0), 0);
}

}  // namespace
}  // namespace sonde
