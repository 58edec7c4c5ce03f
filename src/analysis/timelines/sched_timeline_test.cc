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
constexpr uint64_t kMs = 1'000'000;

const view::TimelineThread& thread_of(const view::Timeline& timeline, uint32_t tid) {
  for (const view::TimelineThread& thread : timeline.threads)
    if (thread.tid == tid) return thread;
  static const view::TimelineThread kNobody;
  return kNobody;
}

std::vector<std::string> slices_of(const view::Timeline& timeline, uint32_t tid,
                                   uint64_t unit_ns = 1) {
  static constexpr const char* kNames[] = {"running", "runnable", "sleeping", "disk", "stopped"};
  std::vector<std::string> texts;
  for (const view::TimelineSlice& slice : thread_of(timeline, tid).slices)
    texts.push_back(fmt::format("{}-{} {}{}", slice.start_ns / unit_ns, slice.end_ns / unit_ns,
                                kNames[size_t(slice.state)], slice.is_cut ? " cut" : ""));
  return texts;
}

std::vector<std::string> unknown_of(const view::Timeline& timeline, uint64_t unit_ns = 1) {
  std::vector<std::string> texts;
  for (const view::TimelineUnknown& span : timeline.unknown)
    texts.push_back(fmt::format("{}-{} CPU {}{}", span.start_ns / unit_ns, span.end_ns / unit_ns,
                                span.cpu, span.is_loss ? " lost" : ""));
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
  EXPECT_THAT(slices_of(timeline, 8), ElementsAre("200-250 running"));
  EXPECT_EQ(thread_of(timeline, 8).ended_ns, 250u);
  EXPECT_EQ(thread_of(timeline, 7).ended_ns, 0u);
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
  EXPECT_EQ(builder.pairs(), 1u);
  view::Timeline timeline = std::move(builder).finish();
  EXPECT_THAT(slices_of(timeline, 7), IsEmpty());
  EXPECT_THAT(slices_of(timeline, 8), IsEmpty()) << "when it came is not known";
  EXPECT_THAT(unknown_of(timeline), ElementsAre("100-300 CPU 0"));
  EXPECT_EQ(timeline.cpus[0].watched_ns, 0u);
  EXPECT_EQ(timeline.cpus[0].busy_ns, 0u);
}

// On CPU 0, 8 left and 9 came between 200 and 400.
TEST(SchedTimeline, AMissingSwitchHidesTheTwoThreadsThatItWasAbout) {
  TimelineBuilder builder;
  builder.add(a_switch(100, 0, 0, 7));
  builder.add(a_switch(110, 0, 0, 9, 1));
  builder.add(a_switch(120, 9, kSleeps, 5, 1));
  builder.add(SchedWaking{.time_ns = 150, .waker_tid = 5, .woken_tid = 9});
  builder.add(a_switch(200, 7, kSleeps, 8));
  builder.add(a_switch(400, 9, kSleeps, 7));
  builder.add(a_switch(450, 5, kSleeps, 0, 1));
  builder.add(a_switch(500, 7, kSleeps, 0));
  EXPECT_EQ(builder.contradictions(), 1u);
  EXPECT_EQ(builder.pairs(), 5u);
  view::Timeline timeline = std::move(builder).finish();
  EXPECT_THAT(slices_of(timeline, 7),
              ElementsAre("100-200 running", "200-400 sleeping", "400-500 running"));
  EXPECT_THAT(slices_of(timeline, 8), IsEmpty());
  EXPECT_THAT(slices_of(timeline, 9), ElementsAre("110-120 running", "120-150 sleeping",
                                                  "150-200 runnable cut", "400-500 sleeping cut"));
  EXPECT_THAT(slices_of(timeline, 5), ElementsAre("120-450 running", "450-500 sleeping cut"));
  EXPECT_THAT(unknown_of(timeline), ElementsAre("200-400 CPU 0"));
  EXPECT_EQ(timeline.cpus[0].watched_ns, 200u);
  EXPECT_EQ(timeline.cpus[0].busy_ns, 200u);
}

TEST(SchedTimeline, AThreadThatWasSeenElsewhereDoesNotRunToTheEnd) {
  TimelineBuilder builder;
  builder.add(a_switch(100, 0, 0, 7));
  builder.add(a_switch(200, 0, 0, 7, 1));
  builder.add(a_switch(250, 7, kSleeps, 0, 1));
  builder.add(a_switch(1000, 0, 0, 8, 1));
  builder.add(a_switch(1100, 8, kSleeps, 0, 1));
  view::Timeline timeline = std::move(builder).finish();
  EXPECT_THAT(slices_of(timeline, 7), ElementsAre("200-250 running", "250-1100 sleeping cut"));
  EXPECT_THAT(unknown_of(timeline), ElementsAre("100-1100 CPU 0"));
}

TEST(SchedTimeline, AThreadThatWasOnlyWokenHasNoState) {
  TimelineBuilder builder;
  builder.add(a_switch(100, 0, 0, 7));
  builder.add(SchedWaking{.time_ns = 120, .waker_tid = 7, .woken_tid = 9});
  builder.add(a_switch(200, 7, kSleeps, 0));
  builder.add(a_switch(5000, 0, 0, 7));
  builder.add(a_switch(5100, 7, kSleeps, 0));
  view::Timeline timeline = std::move(builder).finish();
  EXPECT_THAT(slices_of(timeline, 9), IsEmpty());
  EXPECT_THAT(slices_of(timeline, 7),
              ElementsAre("100-200 running", "200-5000 sleeping", "5000-5100 running"));
}

// Whoever waited may have run on CPU 1 between its switches at 200 and at 400.
TEST(SchedTimeline, AWaitIsKnownUpToWhereEventsWereDropped) {
  SwitchCoverage coverage{.kind = SwitchCoverage::Kind::kEveryCpu, .partial = {}, .losses = {}};
  coverage.losses.push_back({.time_ns = 300 * kMs, .cpu = 1});
  TimelineBuilder builder(coverage);
  builder.add(a_switch(100 * kMs, 0, 0, 7));
  builder.add(a_switch(110 * kMs, 0, 0, 8, 1));
  builder.add(a_switch(150 * kMs, 7, kSleeps, 0));
  builder.add(a_switch(200 * kMs, 8, kSleeps, 0, 1));
  builder.add(a_switch(400 * kMs, 0, 0, 8, 1));
  builder.add(a_switch(450 * kMs, 8, kSleeps, 0, 1));
  builder.add(a_switch(600 * kMs, 0, 0, 7));
  builder.add(a_switch(650 * kMs, 7, kSleeps, 0));
  EXPECT_EQ(builder.contradictions(), 0u);
  view::Timeline timeline = std::move(builder).finish();
  EXPECT_THAT(slices_of(timeline, 7, kMs),
              ElementsAre("100-150 running", "150-200 sleeping cut", "600-650 running"));
  EXPECT_THAT(slices_of(timeline, 8, kMs),
              ElementsAre("110-200 running", "400-450 running", "450-650 sleeping cut"));
  EXPECT_THAT(unknown_of(timeline, kMs), ElementsAre("200-400 CPU 1 lost"));
  EXPECT_THAT(thread_of(timeline, 7).state_ns, ElementsAre(100 * kMs, 0, 0, 0, 0));
  EXPECT_EQ(timeline.cpus[1].watched_ns, 140 * kMs);
}

// The record that tells of a loss is written with the event after it, and bears a later time.
TEST(SchedTimeline, ALossMayLieBeforeTheEventThatPrecedesItsRecord) {
  SwitchCoverage coverage{.kind = SwitchCoverage::Kind::kEveryCpu, .partial = {}, .losses = {}};
  coverage.losses.push_back({.time_ns = 200 * kMs + 300, .cpu = 0});
  TimelineBuilder builder(coverage);
  builder.add(a_switch(100 * kMs, 0, 0, 7));
  builder.add(a_switch(200 * kMs, 7, kSleeps, 0));
  builder.add(a_switch(300 * kMs, 0, 0, 7));
  builder.add(a_switch(400 * kMs, 7, kSleeps, 0));
  view::Timeline timeline = std::move(builder).finish();
  EXPECT_THAT(slices_of(timeline, 7, kMs), ElementsAre("300-400 running"));
}

TEST(SchedTimeline, WhereOnlySomeCpusWereRecordedNoWaitIsKnown) {
  TimelineBuilder builder(SwitchCoverage{.kind = SwitchCoverage::Kind::kSomeCpus,
                                         .partial = "only CPU 0 of 2 was recorded",
                                         .losses = {}});
  builder.add(a_switch(100, 0, 0, 7));
  builder.add(a_switch(200, 7, kSleeps, 8));
  builder.add(SchedWaking{.time_ns = 250, .waker_tid = 8, .woken_tid = 7});
  builder.add(a_switch(300, 8, kPreempted, 7));
  builder.add(a_switch(400, 7, kSleeps, 0));
  view::Timeline timeline = std::move(builder).finish();
  EXPECT_THAT(slices_of(timeline, 7), ElementsAre("100-200 running", "300-400 running"));
  EXPECT_THAT(slices_of(timeline, 8), ElementsAre("200-300 running"));
  EXPECT_EQ(timeline.partial, "only CPU 0 of 2 was recorded");
}

TEST(SchedTimeline, WithoutWordOfTheRecorderACpuIsTrustedWhenItsSwitchesAgree) {
  TimelineBuilder builder(SwitchCoverage{});
  builder.add(a_switch(100, 7, kSleeps, 8));
  builder.add(a_switch(150, 0, 0, 9, 1));
  builder.add(a_switch(200, 9, kSleeps, 0, 1));
  view::Timeline timeline = std::move(builder).finish();
  EXPECT_THAT(slices_of(timeline, 7), IsEmpty());
  EXPECT_THAT(slices_of(timeline, 8), IsEmpty());
  EXPECT_THAT(slices_of(timeline, 9), ElementsAre("150-200 running"));
  EXPECT_THAT(unknown_of(timeline), ElementsAre("100-200 CPU 0"));
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
