#include "trace/views/summary_text.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TracedTask task(int tid, std::string comm, uint64_t events) {
  TracedTask made;
  made.pid = made.tid = tid;
  made.comm = std::move(comm);
  made.events = events;
  return made;
}

std::string text_of(const std::vector<SummaryGroup>& groups, uint64_t events,
                    const SummaryOptions& options) {
  CallTexts texts;
  StringSink sink;
  write_summary(sink, groups, events, options, texts);
  return sink.text();
}

TEST(SummaryText, ATableForAThread) {
  std::deque<TracedTask> tasks = {task(300, "ls", 8)};
  CallStats& reads = tasks[0].calls[{SyscallAbi::kX86_64, 0}];
  reads.add(1'000'000, 10, true);
  reads.add(3'000'000, -11, true);
  tasks[0].calls[{SyscallAbi::kX86_64, 3}].add(5'000'000, 0, true);
  EXPECT_EQ(text_of(groups_by_thread(tasks), 16, {.errnos = true}), R"(
 Summary of events:

 ls (300), 8 events, 50.0%

   syscall            calls  errors  total       min       avg       max       stddev
                                     (msec)    (msec)    (msec)    (msec)        (%)
   --------------- --------  ------ -------- --------- --------- ---------     ------
   close                  1      0     5.000     5.000     5.000     5.000      0.00%
   read                   2      1     4.000     1.000     2.000     3.000     50.00%
				EAGAIN: 1


)");
}

TEST(SummaryText, ThreadsStandByBucketAndEvents) {
  std::deque<TracedTask> tasks = {task(256 + 5, "b", 9), task(5, "c", 12), task(4, "a", 50),
                                  task(6, "none", 0)};
  std::vector<SummaryGroup> groups = groups_by_thread(tasks);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].name, "a (4)");
  EXPECT_EQ(groups[1].name, "b (261)");
  EXPECT_EQ(groups[2].name, "c (5)");
}

TEST(SummaryText, TheTotalHasAllCallsOnce) {
  std::deque<TracedTask> tasks = {task(4, "a", 2), task(5, "b", 4)};
  tasks[0].calls[{SyscallAbi::kX86_64, 0}].add(1000, 0, false);
  tasks[1].calls[{SyscallAbi::kX86_64, 0}].add(3000, 0, false);
  tasks[1].calls[{SyscallAbi::kX86_64, 1}].add(3000, 0, false);
  SummaryGroup all = group_of_all(tasks);
  EXPECT_EQ(all.events, 6U);
  EXPECT_EQ(all.calls.size(), 2U);
  const CallStats& reads = all.calls[{SyscallAbi::kX86_64, 0}];
  EXPECT_EQ(reads.calls(), 2U);
  EXPECT_DOUBLE_EQ(reads.mean_ns(), 2000.0);
  EXPECT_DOUBLE_EQ(reads.deviation_percent(), 50.0);
  EXPECT_EQ(reads.min_ns(), 1000U);
  EXPECT_EQ(reads.max_ns(), 3000U);
}

TEST(CallStats, SumsFromElsewhereGiveTheSameAsSingleCalls) {
  CallStats single, sums;
  uint64_t total = 0;
  double squares = 0;
  for (uint64_t value : {100ULL, 250ULL, 900ULL, 40ULL}) {
    single.add(value, 0, false);
    total += value;
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  sums.add(2, 0, 350, 100, 250, 100.0 * 100 + 250.0 * 250);
  sums.add(2, 0, 940, 40, 900, squares - 100.0 * 100 - 250.0 * 250);
  EXPECT_EQ(sums.calls(), 4U);
  EXPECT_EQ(sums.min_ns(), 40U);
  EXPECT_NEAR(sums.mean_ns(), single.mean_ns(), 1e-9);
  EXPECT_NEAR(sums.deviation_percent(), single.deviation_percent(), 1e-9);
  EXPECT_EQ(static_cast<uint64_t>(sums.mean_ns() * 4), total);
}

TEST(SummaryText, OnlyTheFirstRows) {
  std::deque<TracedTask> tasks = {task(4, "a", 2)};
  for (uint32_t number = 0; number < 5; ++number)
    tasks[0].calls[{SyscallAbi::kX86_64, number}].add(1000 * (number + 1), 0, false);
  std::string text = text_of(groups_by_thread(tasks), 2, {.most_rows = 2});
  EXPECT_NE(text.find("\n   stat "), std::string::npos);
  EXPECT_EQ(text.find("\n   open "), std::string::npos);
}

}  // namespace
}  // namespace sonde
