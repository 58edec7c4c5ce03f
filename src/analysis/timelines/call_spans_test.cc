#include "analysis/timelines/call_spans.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/timelines/call_stacks.h"
#include "stacks/profile_lines.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using enum BranchKind;

// Functions 1, 2 … begin at 0x1000, 0x2000 …
CallSpans::Code at(uint64_t address) {
  return {address, static_cast<uint32_t>(address >> 12), (address & 0xfff) == 0};
}
constexpr CallSpans::Code kNowhere{};

/// "FUNCTION DEPTH START-END", with a mark if it is cut.
std::vector<std::string> texts(CallSpans&& spans, uint64_t end_ns) {
  std::vector<std::string> texts;
  for (const view::TimelineCall& call : std::move(spans).finish(end_ns))
    texts.push_back(fmt::format("{} {} {}-{}{}", call.function, call.depth, call.start_ns,
                                call.end_ns, call.is_cut ? " cut" : ""));
  return texts;
}

TEST(CallSpans, CallsAndReturns) {
  CallSpans spans;
  spans.branch(kBegin, kNowhere, at(0x1000), 10);
  spans.branch(kCall, at(0x1010), at(0x2000), 20);
  spans.branch(kCall, at(0x2010), at(0x2000), 30);  // itself
  spans.branch(kReturn, at(0x2020), at(0x2015), 40);
  spans.branch(kReturn, at(0x2020), at(0x1015), 50);
  spans.branch(kReturn, at(0x1020), kNowhere, 60);
  EXPECT_THAT(texts(std::move(spans), 60), ElementsAre("1 0 10-60", "2 1 20-50", "2 2 30-40"));
}

TEST(CallSpans, ReturnsToCallersFromBeforeTheTrace) {
  CallSpans spans;
  spans.branch(kBegin, kNowhere, at(0x3010), 10);
  spans.branch(kReturn, at(0x3020), at(0x2015), 20);
  spans.branch(kCall, at(0x2020), at(0x4000), 25);
  spans.branch(kReturn, at(0x4004), at(0x2025), 30);
  spans.branch(kReturn, at(0x2030), at(0x1015), 40);
  EXPECT_THAT(texts(std::move(spans), 50),
              ElementsAre("1 0 10-50 cut", "2 1 10-40 cut", "3 2 10-20 cut", "4 2 25-30"));
}

TEST(CallSpans, JumpsToOtherFunctionsAreTailCalls) {
  CallSpans spans;
  spans.branch(kBegin, kNowhere, at(0x1000), 0);
  spans.branch(kCall, at(0x1010), at(0x2000), 10);
  spans.branch(kJump, at(0x2010), at(0x3000), 20);
  spans.branch(kJump, at(0x3004), at(0x3008), 21);  // within it
  spans.branch(kReturn, at(0x3010), at(0x1015), 30);
  EXPECT_THAT(texts(std::move(spans), 40), ElementsAre("1 0 0-40 cut", "2 1 10-20", "3 1 20-30"));
}

TEST(CallSpans, ReturnsAndJumpsOutOfSeveralCalls) {
  CallSpans spans;
  spans.branch(kBegin, kNowhere, at(0x1000), 0);
  spans.branch(kCall, at(0x1010), at(0x2000), 10);
  spans.branch(kCall, at(0x2010), at(0x3000), 20);
  spans.branch(kJump, at(0x3010), at(0x1020), 30);  // longjmp into the outermost
  spans.branch(kCall, at(0x1030), at(0x2000), 40);
  spans.branch(kCall, at(0x2010), at(0x3000), 50);
  spans.branch(kReturn, at(0x3010), at(0x1035), 60);  // the outermost's call returns
  EXPECT_THAT(texts(std::move(spans), 70),
              ElementsAre("1 0 0-70 cut", "2 1 10-30", "3 2 20-30", "2 1 40-60", "3 2 50-60"));
}

TEST(CallSpans, SignalHandlersAreCalledByWhatTheyInterrupt) {
  CallSpans spans;
  spans.branch(kBegin, kNowhere, at(0x1000), 0);
  spans.branch(kEnd, at(0x1010), kNowhere, 10);
  spans.branch(kBegin, kNowhere, at(0x5000), 20);     // the handler
  spans.branch(kReturn, at(0x5010), at(0x6000), 30);  // to what restores
  spans.branch(kEnd, at(0x6010), kNowhere, 40);
  spans.branch(kBegin, kNowhere, at(0x1010), 50);
  EXPECT_THAT(texts(std::move(spans), 60), ElementsAre("1 0 0-60 cut", "5 1 20-30", "6 1 30-50"));
}

TEST(CallSpans, NothingIsKnownAfterALoss) {
  CallSpans spans;
  spans.branch(kBegin, kNowhere, at(0x1000), 0);
  spans.branch(kCall, at(0x1010), at(0x2000), 10);
  spans.lost(20);
  spans.branch(kBegin, kNowhere, at(0x3010), 30);
  spans.branch(kReturn, at(0x3020), at(0x2015), 40);
  EXPECT_THAT(texts(std::move(spans), 50),
              ElementsAre("1 0 0-20 cut", "2 1 10-20 cut", "2 0 30-50 cut", "3 1 30-40 cut"));
}

TEST(CallStacks, EachCallHasItsOwnTime) {
  view::Timeline timeline;
  timeline.subject = view::TimelineSubject::kCalls;
  timeline.functions = {{"main", "app"}, {"parse", "app"}, {"read", "libc.so.6"}};
  view::TimelineThread& thread = timeline.threads.emplace_back();
  thread.name = "app";
  thread.calls = {{.start_ns = 0, .end_ns = 100, .function = 0, .depth = 0},
                  {.start_ns = 10, .end_ns = 60, .function = 1, .depth = 1},
                  {.start_ns = 20, .end_ns = 50, .function = 2, .depth = 2},
                  {.start_ns = 60, .end_ns = 70, .function = 2, .depth = 1}};
  EXPECT_THAT(lines_of(call_stacks(timeline, false)),
              ElementsAre("app;main 40", "app;main;parse 20", "app;main;parse;read 30",
                          "app;main;read 10"));
  StackProfile with_samples = call_stacks(timeline, true);
  EXPECT_THAT(with_samples.samples.time_ns, ElementsAre(0, 10, 20, 50, 60, 70));
  EXPECT_THAT(with_samples.samples.value, ElementsAre(10, 10, 30, 10, 10, 30));
}

/// A thread that became another program, or was renamed, in the middle of its calls.
TEST(CallStacks, TimeIsOfTheThreadUnderTheNameThatItHad) {
  view::Timeline timeline;
  timeline.subject = view::TimelineSubject::kCalls;
  timeline.functions = {{"main", "app"}, {"parse", "app"}, {"read", "libc.so.6"}};
  view::TimelineThread& thread = timeline.threads.emplace_back();
  thread.name = "sh → app";
  thread.names = {{0, "sh", "sh"}, {30, "app", "app"}};
  thread.calls = {{.start_ns = 0, .end_ns = 100, .function = 0, .depth = 0},
                  {.start_ns = 10, .end_ns = 60, .function = 1, .depth = 1},
                  {.start_ns = 20, .end_ns = 50, .function = 2, .depth = 2},
                  {.start_ns = 60, .end_ns = 70, .function = 2, .depth = 1}};
  StackProfile profile = call_stacks(timeline, true);
  EXPECT_THAT(lines_of(profile),
              UnorderedElementsAre("sh;main 10", "sh;main;parse 10", "sh;main;parse;read 10",
                                   "app;main;parse;read 20", "app;main;parse 10",
                                   "app;main;read 10", "app;main 30"));
  EXPECT_THAT(profile.samples.time_ns, ElementsAre(0, 10, 20, 30, 50, 60, 70));
  EXPECT_THAT(profile.samples.thread, ElementsAre(0, 0, 0, 1, 1, 1, 1));
  ASSERT_EQ(profile.threads.size(), 2u);
  EXPECT_EQ(profile.text(profile.threads[1].name), "app");
}

}  // namespace
}  // namespace sonde
