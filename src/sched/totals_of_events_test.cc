#include "sched/totals_of_events.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sched/wall_clock_table.h"

namespace sonde {
namespace {

SchedEvent at(uint64_t time, SchedKind kind, uint32_t task, uint32_t next = 0, uint64_t value = 0) {
  SchedEvent event;
  event.time = time;
  event.kind = kind;
  event.task = task;
  event.next = next;
  event.value = value;
  return event;
}

SchedSum of(const TotalsOfEvents& sums, uint32_t tid) {
  auto all = sums.result();
  auto found = std::ranges::find(all, tid, &SchedSum::tid);
  return found == all.end() ? SchedSum{} : *found;
}

TEST(TotalsOfEvents, PhasesAreTheWholeLife) {
  using enum SchedKind;
  TotalsOfEvents sums;
  sums.take_sample(at(100, kSwitch, 7, 0, 1));  // 7 has run since the start, and goes to sleep
  sums.take_sample(at(150, kWaking, 7));        // 50 of sleep
  sums.take_sample(at(170, kSwitch, 0, 7));     // 20 of waiting
  sums.take_sample(at(200, kSwitch, 7, 8, 2));  // 30 on the CPU; 8 had not appeared before
  sums.take_sample(at(260, kWakeup, 7));        // 60 blocked
  sums.take_sample(at(300, kSwitch, 8, 9, 0));  // preempted
  SchedSum seven = of(sums, 7);
  EXPECT_EQ(seven.running_ns, 30u);
  EXPECT_EQ(seven.sleeping_ns, 50u);
  EXPECT_EQ(seven.blocked_ns, 60u);
  EXPECT_EQ(seven.runnable_ns, 20u + 40u);
  EXPECT_EQ(seven.last_ns - seven.first_ns, 200u);
  EXPECT_EQ(seven.delays, 1u);
  EXPECT_EQ(seven.longest_ns, 20u);
  EXPECT_EQ(seven.longest_end_ns, 170u);
  SchedSum eight = of(sums, 8);
  EXPECT_EQ(eight.runnable_ns, 100u);
  EXPECT_EQ(eight.running_ns, 100u);
  EXPECT_EQ(eight.delay_ns, 0u);  // how long it had waited was not seen
  for (const SchedSum& sum : sums.result())
    EXPECT_EQ(sum.running_ns + sum.runnable_ns + sum.sleeping_ns + sum.blocked_ns,
              sum.last_ns - sum.first_ns);
}

TEST(TotalsOfEvents, LivesBeginWithTheForkAndEndWithTheLastSwitch) {
  using enum SchedKind;
  TotalsOfEvents sums;
  sums.take_sample(at(100, kSwitch, 0, 5));
  sums.take_sample(at(200, kWakeupNew, 6));
  sums.take_sample(at(210, kSwitch, 5, 6, 0));
  sums.take_sample(at(250, kSwitch, 6, 5, 0x10));
  sums.take_sample(at(900, kSwitch, 5, 0, 1));
  SchedSum six = of(sums, 6);
  EXPECT_EQ(six.first_ns, 200u);
  EXPECT_EQ(six.last_ns, 250u);
  EXPECT_EQ(six.running_ns, 40u);
  EXPECT_EQ(six.runnable_ns, 10u);
  EXPECT_EQ(of(sums, 5).last_ns, 900u);
}

TEST(WallClock, SharesAddUp) {
  EXPECT_EQ(shares_of_1000({1, 1, 1, 0}), (std::array<uint64_t, 4>{334, 333, 333, 0}));
  EXPECT_EQ(shares_of_1000({0, 0, 0, 0}), (std::array<uint64_t, 4>{0, 0, 0, 0}));
  EXPECT_EQ(shares_of_1000({UINT64_MAX / 4, UINT64_MAX / 4, UINT64_MAX / 4, UINT64_MAX / 4}),
            (std::array<uint64_t, 4>{250, 250, 250, 250}));
}

TEST(WallClock, TasksOfOneNameAreOneLine) {
  SchedSum first, second;
  first.tid = 3;
  first.comm = second.comm = "worker";
  second.tid = 4;
  first.running_ns = 10'000'000;
  second.sleeping_ns = 30'000'000;
  StringSink out;
  write_wall_clock(out, lives_of({first, second}, true));
  EXPECT_NE(out.text().find("worker:(2)"), std::string::npos);
  EXPECT_NE(out.text().find("40.000 |  25.0 % |    0.0 % |   75.0 % |   0.0 % |"),
            std::string::npos)
      << out.text();
  EXPECT_EQ(lives_of({first, second}, false).size(), 2u);
}

}  // namespace
}  // namespace sonde
