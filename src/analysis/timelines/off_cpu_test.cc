#include "analysis/timelines/off_cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stacks/profile_lines.h"
#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using view::TaskState;

/// "reader" sleeps from 20 to 50, is woken by "writer", waits for a CPU until 51, and finally for a
/// disk; the recording cuts off that wait.
view::Timeline two_threads() {
  view::Timeline timeline;
  timeline.start_ns = 10;
  timeline.end_ns = 90;
  timeline.stacks = {"main;read", "main;write"};
  view::TimelineThread& reader = timeline.threads.emplace_back();
  reader.tid = reader.pid = 1;
  reader.name = reader.process_name = "reader";
  reader.slices = {{.start_ns = 10, .end_ns = 20, .state = TaskState::kRunning, .cpu = 0},
                   {.start_ns = 20,
                    .end_ns = 50,
                    .state = TaskState::kSleeping,
                    .cpu = 0,
                    .waker = 1,
                    .stack = 0,
                    .waker_stack = 1},
                   {.start_ns = 50, .end_ns = 51, .state = TaskState::kRunnable, .cpu = 0},
                   {.start_ns = 60,
                    .end_ns = 90,
                    .state = TaskState::kUninterruptible,
                    .is_cut = true,
                    .stack = 0}};
  view::TimelineThread& writer = timeline.threads.emplace_back();
  writer.tid = writer.pid = 2;
  writer.name = "writer";
  writer.slices = {{.start_ns = 12, .end_ns = 17, .state = TaskState::kSleeping, .cpu = 1}};
  return timeline;
}

/// A process that was two programs: what it waited for is that one's which waited.
TEST(OffCpu, WaitsAreOfTheThreadUnderTheNameThatItHad) {
  StackTreeBuilder builder;
  size_t column = builder.add_column("cycles", "events");
  builder.add_thread({.pid = 1, .tid = 1, .name = builder.intern("sh")});
  builder.add_thread({.pid = 1, .tid = 1, .name = builder.intern("reader")});
  uint32_t thread = 0;
  for (std::string_view name : {"sh", "reader"}) {
    StackFrameId stack[] = {
        builder.frame({.name = builder.intern(name), .kind = FrameKind::kTask})};
    builder.add_sample(builder.node_of(stack), column, 1,
                       {.time_ns = 15 + 40u * thread, .thread = thread, .cpu = 0});
    ++thread;
  }
  view::Timeline timeline = two_threads();
  timeline.threads[0].slices[3].is_cut = false;
  ProfileWithWaits made = with_waits(std::move(builder).finish(), timeline);
  EXPECT_THAT(lines_of(made.profile, 1),
              UnorderedElementsAre("reader;main;read 30",
                                   "sh;main;read;--;write_[w];main_[w];writer_[w] 30", "writer 5"));
  const StackSamples& samples = made.profile.samples;
  std::vector<std::string> names;
  for (size_t i = 0; i < samples.size(); ++i)
    if (samples.column[i] == 1)
      names.emplace_back(made.profile.text(made.profile.threads[samples.thread[i]].name));
  EXPECT_THAT(names, ElementsAre("writer", "sh", "reader"));
}

TEST(OffCpu, StacksAreOfWaitsAndTheirWakers) {
  StackProfile profile = off_cpu_stacks(two_threads());
  EXPECT_THAT(lines_of(profile),
              ElementsAre("reader;main;read;--;write_[w];main_[w];writer_[w] 30", "writer 5"));
  EXPECT_EQ(profile.columns[0].samples, 2u);
}

/// With samples of reader at 15 and 55, in the kernel's "read".
StackProfile sampled() {
  StackTreeBuilder builder;
  size_t column = builder.add_column("cycles", "events");
  builder.add_thread({.pid = 1, .tid = 1, .name = builder.intern("reader")});
  StackFrameId stack[] = {
      builder.frame({.name = builder.intern("reader"), .kind = FrameKind::kTask}),
      builder.frame({.name = builder.intern("main"), .object = builder.intern("app")}),
      builder.frame({.name = builder.intern("read"), .kind = FrameKind::kKernel})};
  for (uint64_t time_ns : {15u, 55u})
    builder.add_sample(builder.node_of(stack), column, 4, {.time_ns = time_ns, .thread = 0});
  return std::move(builder).finish();
}

TEST(OffCpu, WaitsAreSamplesOfOneMoreEvent) {
  auto [profile, sample_before] = with_waits(sampled(), two_threads());
  ASSERT_EQ(profile.columns.size(), 2u);
  EXPECT_EQ(profile.columns[1].name, "off-cpu");
  EXPECT_THAT(lines_of(profile, 0), ElementsAre("reader;main;read 8"));
  EXPECT_EQ(profile.columns[0].samples, 2u);
  EXPECT_THAT(lines_of(profile, 1),
              ElementsAre("reader;main;read;--;write_[w];main_[w];writer_[w] 30", "writer 5"));
  EXPECT_THAT(sample_before, ElementsAre(0, UINT32_MAX, UINT32_MAX, 1));
  const StackSamples& samples = profile.samples;
  EXPECT_THAT(samples.time_ns, ElementsAre(15, 17, 50, 55));
  EXPECT_THAT(samples.value, ElementsAre(4, 5, 30, 4));
  EXPECT_THAT(samples.thread, ElementsAre(0, 1, 0, 0));
  EXPECT_EQ(path_of(profile, samples.node[3]), "reader;main;read");
  EXPECT_EQ(profile.frame_of(samples.node[3]).kind, FrameKind::kKernel);
  EXPECT_EQ(profile.frame_of(samples.node[2]).kind, FrameKind::kWaker);
  ASSERT_EQ(profile.threads.size(), 2u);
  EXPECT_EQ(profile.threads[1].tid, 2u);
}

}  // namespace
}  // namespace sonde
