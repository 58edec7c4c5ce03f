#include "capture/opening/followed_target.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

Target target_of(Target::Kind kind, std::vector<ThreadEntry> threads) {
  Target target;
  target.kind = kind;
  target.threads = std::move(threads);
  return target;
}

TEST(FollowedTarget, ACommandIsFollowedFromItsExec) {
  FollowedTasks tasks = followed_tasks(target_of(Target::Kind::kCommand, {{7, {}}}), true, {});
  EXPECT_FALSE(tasks.all);
  EXPECT_EQ(tasks.tids, std::vector<uint32_t>{7});
  EXPECT_TRUE(tasks.inherit);
  EXPECT_TRUE(tasks.enable_on_exec);
}

TEST(FollowedTarget, ADelayedCommandWaitsForTheDelay) {
  DelayOptions delay;
  delay.delay_ms = 1;
  Target command = target_of(Target::Kind::kCommand, {{7, {}}});
  EXPECT_FALSE(followed_tasks(command, true, delay).enable_on_exec);
}

TEST(FollowedTarget, ThreadsThatRunAreFollowedAtOnce) {
  Target threads = target_of(Target::Kind::kTasks, {{7, {}}, {9, {}}});
  FollowedTasks tasks = followed_tasks(threads, false, {});
  EXPECT_EQ(tasks.tids, (std::vector<uint32_t>{7, 9}));
  EXPECT_FALSE(tasks.inherit);
  EXPECT_FALSE(tasks.enable_on_exec);
}

TEST(FollowedTarget, CpusAreEverybodysWork) {
  FollowedTasks tasks = followed_tasks(target_of(Target::Kind::kCpus, {{-1, {}}}), true, {});
  EXPECT_TRUE(tasks.all);
  EXPECT_TRUE(tasks.tids.empty());
}

}  // namespace
}  // namespace sonde
