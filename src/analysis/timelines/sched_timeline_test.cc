#include "analysis/timelines/sched_timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using view::kNoIndex;
using view::TaskState;

constexpr uint64_t kPreempted = 0x100, kSleeps = 1, kDisk = 2, kDead = 0x10;

const view::TimelineThread& thread_of(const view::Timeline& timeline, uint32_t tid) {
  for (const view::TimelineThread& thread : timeline.threads)
    if (thread.tid == tid) return thread;
  static const view::TimelineThread kNobody;
  return kNobody;
}

std::vector<std::string> slices_of(const view::Timeline& timeline, uint32_t tid) {
  static constexpr const char* kNames[] = {"running", "runnable", "sleeping", "disk", "stopped"};
  std::vector<std::string> texts;
  for (const view::TimelineSlice& slice : thread_of(timeline, tid).slices)
    texts.push_back(fmt::format("{}-{} {}{}", slice.start_ns, slice.end_ns,
                                kNames[size_t(slice.state)], slice.is_cut ? " cut" : ""));
  return texts;
}

SchedSwitch a_switch(uint64_t time, uint32_t prev, uint64_t state, uint32_t next,
                     uint32_t cpu = 0) {
  return {.time_ns = time, .cpu = cpu, .prev_tid = prev, .prev_state = state, .next_tid = next};
}

TEST(SchedTimeline, DividesAWaitAtTheWaking) {
  TimelineBuilder builder;
  builder.add(a_switch(100, 0, 0, 7));
  builder.add(a_switch(200, 7, kSleeps, 8));
  builder.add(SchedWaking{.time_ns = 500, .waker_tid = 8, .woken_tid = 7, .stack = 3});
  builder.add(a_switch(600, 8, kDisk, 7));
  builder.add(a_switch(900, 7, kSleeps, 0));
  view::Timeline timeline = std::move(builder).finish();

  EXPECT_THAT(slices_of(timeline, 7), ElementsAre("100-200 running", "200-500 sleeping",
                                                  "500-600 runnable", "600-900 running"));
  EXPECT_THAT(slices_of(timeline, 8), ElementsAre("200-600 running", "600-900 disk cut"));
  const view::TimelineSlice& wait = thread_of(timeline, 7).slices[1];
  EXPECT_EQ(timeline.threads[wait.waker].tid, 8u);
  EXPECT_EQ(wait.waker_stack, 3u);
  EXPECT_THAT(thread_of(timeline, 7).state_ns, ElementsAre(400, 100, 300, 0, 0));
  EXPECT_EQ(thread_of(timeline, 7).runs, 2u);
  ASSERT_EQ(timeline.cpus.size(), 1u);
  EXPECT_EQ(timeline.cpus[0].busy_ns, 800u);
  EXPECT_EQ(timeline.cpus[0].watched_ns, 800u);
}

TEST(SchedTimeline, PreemptedThreadsWaitForACpu) {
  TimelineBuilder builder;
  builder.add(a_switch(100, 0, 0, 7));
  builder.add(a_switch(200, 7, kPreempted, 8));
  builder.add(a_switch(250, 8, kDead, 7));
  builder.add(a_switch(300, 7, kPreempted, 0));
  view::Timeline timeline = std::move(builder).finish();
  EXPECT_THAT(slices_of(timeline, 7),
              ElementsAre("100-200 running", "200-250 runnable", "250-300 running"));
  EXPECT_THAT(slices_of(timeline, 8), ElementsAre("200-250 running"));  // and then it exited
}

TEST(SchedTimeline, WithoutWakingsAWaitLastsUntilTheNextRun) {
  TimelineBuilder builder;
  builder.add(a_switch(100, 0, 0, 7));
  builder.add(a_switch(200, 7, kSleeps, 0));
  builder.add(a_switch(400, 0, 0, 7, 1));
  builder.add(a_switch(500, 7, kSleeps, 0, 1));
  view::Timeline timeline = std::move(builder).finish();
  EXPECT_THAT(slices_of(timeline, 7),
              ElementsAre("100-200 running", "200-400 sleeping", "400-500 running"));
  EXPECT_EQ(thread_of(timeline, 7).slices[1].waker, kNoIndex);
}

// The waker saw the thread's new state before the thread was off its CPU.
TEST(SchedTimeline, AWakingJustBeforeTheSwitchCounts) {
  TimelineBuilder builder;
  builder.add(a_switch(100, 0, 0, 7));
  builder.add(SchedWaking{.time_ns = 199, .waker_tid = 9, .woken_tid = 7});
  builder.add(a_switch(200, 7, kSleeps, 0));
  builder.add(a_switch(230, 0, 0, 7));
  view::Timeline timeline = std::move(builder).finish();
  EXPECT_THAT(slices_of(timeline, 7), ElementsAre("100-200 running", "200-230 runnable"));
}

TEST(SchedTimeline, WhatTheRecordingCutsIsShownAndNotCounted) {
  TimelineBuilder builder;
  builder.add(SchedWaking{.time_ns = 50, .waker_tid = 7, .woken_tid = 9});
  builder.add(a_switch(100, 7, kSleeps, 8));
  builder.add(a_switch(150, 0, 0, 9, 1));
  builder.add(a_switch(200, 9, kSleeps, 0, 1));
  view::Timeline timeline = std::move(builder).finish();
  EXPECT_THAT(slices_of(timeline, 7), ElementsAre("50-100 running cut", "100-200 sleeping cut"));
  EXPECT_THAT(slices_of(timeline, 8), ElementsAre("100-200 running cut"));
  EXPECT_THAT(slices_of(timeline, 9), ElementsAre("50-150 runnable", "150-200 running"));
}

TEST(SchedTimeline, MissingSwitchesAreCountedAndGiveNoTimeToTheWrongThread) {
  TimelineBuilder builder;
  builder.add(a_switch(100, 0, 0, 7));
  builder.add(a_switch(300, 8, kSleeps, 0));
  EXPECT_EQ(builder.contradictions(), 1u);
  view::Timeline timeline = std::move(builder).finish();
  EXPECT_THAT(slices_of(timeline, 7), IsEmpty());
  EXPECT_THAT(slices_of(timeline, 8), ElementsAre("100-300 running"));
}

TEST(SchedTimeline, ThreadsStandByRunTimeAndCpusByNumber) {
  TimelineBuilder builder;
  builder.add(a_switch(100, 0, 0, 7, 5));
  builder.add(a_switch(110, 0, 0, 8, 2));
  builder.add(a_switch(120, 7, kSleeps, 0, 5));
  builder.add(a_switch(190, 8, kSleeps, 0, 2));
  view::Timeline timeline = std::move(builder).finish();
  ASSERT_EQ(timeline.threads.size(), 2u);
  EXPECT_EQ(timeline.threads[0].tid, 8u);
  ASSERT_EQ(timeline.cpus.size(), 2u);
  EXPECT_EQ(timeline.cpus[0].cpu, 2u);
  EXPECT_EQ(timeline.threads[timeline.cpus[0].runs[0].thread].tid, 8u);
}

TEST(SchedTimeline, StatesOfTheKernel) {
  EXPECT_EQ(left_as(0), LeftAs::kRunnable);
  EXPECT_EQ(left_as(0x100), LeftAs::kRunnable);   // R+
  EXPECT_EQ(left_as(0x1000), LeftAs::kRunnable);  // R+ of older kernels
  EXPECT_EQ(left_as(0x1), LeftAs::kSleeping);
  EXPECT_EQ(left_as(0x80), LeftAs::kSleeping);  // an idle kernel thread
  EXPECT_EQ(left_as(0x2), LeftAs::kUninterruptible);
  EXPECT_EQ(left_as(0x402), LeftAs::kUninterruptible);
  EXPECT_EQ(left_as(0x4), LeftAs::kStopped);
  EXPECT_EQ(left_as(0x8), LeftAs::kStopped);
  EXPECT_EQ(left_as(0x10), LeftAs::kEnded);
  EXPECT_EQ(left_as(0x20), LeftAs::kEnded);
}

}  // namespace
}  // namespace sonde
