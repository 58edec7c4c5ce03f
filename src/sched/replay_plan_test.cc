#include "sched/replay_plan.h"

#include <gtest/gtest.h>

#include "sched/replay_runner.h"

namespace sonde {
namespace {

constexpr ReplayPlan::Who kIdle{0, "swapper"}, kReader{10, "reader"}, kWriter{20, "writer"};
constexpr uint64_t kMs = 1'000'000;

/// 'r' runs, 's' sleeps with nobody to wake it, 'S' until woken, 'w' and 'W' wake nobody and
/// somebody.
std::string steps(const ReplayPlan& plan, size_t task) {
  std::string text;
  for (const ReplayStep& step : plan.tasks()[task].steps) {
    char letter = "rsw"[static_cast<size_t>(step.kind)];
    if (step.signal != ReplayStep::kNoSignal) letter = static_cast<char>(letter - 'a' + 'A');
    text += letter;
  }
  return text;
}

TEST(ReplayPlan, AWakeupEndsTheLastSleep) {
  ReplayPlan plan;
  plan.take_switch(100 * kMs, 0, kIdle, kWriter);
  plan.take_switch(103 * kMs, 0, kWriter, kIdle);
  plan.take_wakeup(kIdle, kWriter);
  plan.take_switch(104 * kMs, 0, kIdle, kWriter);
  ASSERT_EQ(plan.tasks().size(), 2u);
  EXPECT_EQ(plan.tasks()[1].name, "writer");
  EXPECT_EQ(steps(plan, 0), "srsWrs");
  EXPECT_EQ(steps(plan, 1), "srS");
  // For the first switch of a CPU it is unknown since when the task ran.
  EXPECT_EQ(plan.tasks()[0].steps[1].run_ns, 0u);
  EXPECT_EQ(plan.tasks()[1].steps[1].run_ns, 3 * kMs);
  EXPECT_EQ(plan.counts().wakeups, 1u);
  EXPECT_EQ(plan.signals(), 1u);
}

TEST(ReplayPlan, WakeupsWithoutEffectAreCounted) {
  ReplayPlan plan;
  plan.take_wakeup(kReader, kWriter);
  plan.take_wakeup(kReader, kWriter);  // awake already
  plan.take_wakeup(kWriter, kReader);  // which has not slept since it was woken
  EXPECT_EQ(plan.counts().wakeups, 1u);
  EXPECT_EQ(plan.counts().with_many, 1u);
  EXPECT_EQ(plan.counts().without_target, 1u);
  EXPECT_EQ(steps(plan, 0), "sWw");
  EXPECT_EQ(steps(plan, 1), "Sw");
}

TEST(ReplayPlan, TimeThatGoesBackIsNone) {
  ReplayPlan plan;
  plan.take_switch(100 * kMs, 3, kIdle, kWriter);
  plan.take_switch(90 * kMs, 3, kWriter, kIdle);
  EXPECT_EQ(plan.tasks()[1].steps[1].run_ns, 0u);
}

TEST(ReplayPlan, EndsAreChained) {
  ReplayPlan plan;
  plan.take_fork(kIdle, kReader);
  plan.take_fork(kReader, kWriter);
  plan.chain_ends();
  EXPECT_EQ(steps(plan, 0), "sW");
  EXPECT_EQ(steps(plan, 1), "SW");
  EXPECT_EQ(steps(plan, 2), "Sw");
}

TEST(ReplayRunner, RunsEveryRoundToItsEnd) {
  ReplayPlan plan;
  for (uint64_t i = 0; i < 20; ++i) {
    plan.take_switch((100 + 4 * i) * kMs / 10, 0, kIdle, kWriter);
    plan.take_wakeup(kWriter, kReader);
    plan.take_switch((101 + 4 * i) * kMs / 10, 0, kWriter, kReader);
    plan.take_wakeup(kReader, kWriter);
    plan.take_switch((102 + 4 * i) * kMs / 10, 0, kReader, kIdle);
  }
  plan.chain_ends();
  auto runner = ReplayRunner::start(plan, {});
  ASSERT_TRUE(runner.has_value());
  for (int i = 0; i < 3; ++i) {
    ReplayRound round = runner->run();
    // Both use a CPU for 2 ms.
    EXPECT_GE(round.wall_ns, 2 * kMs);
    EXPECT_GT(round.cpu_ns, 0u);
  }
}

}  // namespace
}  // namespace sonde
