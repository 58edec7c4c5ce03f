#include "lock/live_waits.h"

#include <gtest/gtest.h>

#include "lock/lock_types.h"

namespace sonde {
namespace {

// Functions of 0x100 bytes each.
std::optional<KernelSymbol> name_of(uint64_t address) {
  constexpr std::string_view kNames[] = {"bpf_trace_run2", "__traceiter_contention_begin",
                                         "slowpath",       "_raw_spin_lock",
                                         "schedule",       "do_fork",
                                         "do_exit"};
  uint64_t index = address / 0x100;
  if (index == 0 || index > std::size(kNames)) return std::nullopt;
  return KernelSymbol{kNames[index - 1], index * 0x100, address % 0x100};
}
const LockFunctions kFunctions(LockFunctions::Ranges{
    {0x300, 0x600}});  // slowpath, _raw_spin_lock, schedule

LockWaits::Row wait(std::vector<uint64_t> stack, uint64_t count, uint64_t total_ns) {
  LockWaits::Row row;
  row.stack = std::move(stack);
  row.flags = kLockSpin;
  row.count = count;
  row.total_ns = total_ns;
  row.longest_ns = row.shortest_ns = total_ns / count;
  return row;
}

TEST(WithoutTracing, DropsTheProgramAndWhatCallsIt) {
  std::vector<uint64_t> stack = {0x10, 0x110, 0x210, 0x310, 0x610};
  EXPECT_EQ(without_tracing(stack, name_of).size(), 2u);
  std::vector<uint64_t> clean = {0x310, 0x10};
  EXPECT_EQ(without_tracing(clean, name_of).size(), 2u);
  EXPECT_TRUE(without_tracing({}, name_of).empty());
}

TEST(RowsOfLiveWaits, StacksOfOneCallerAreOneRow) {
  LiveWaitOptions options;
  options.callers.skip = 1;
  auto rows =
      rows_of_live_waits({wait({0x310, 0x410, 0x620}, 2, 200), wait({0x320, 0x510, 0x620}, 1, 50),
                          wait({0x310, 0x410, 0x720}, 4, 40)},
                         options, kFunctions, name_of);
  ASSERT_EQ(rows.size(), 2u);
  sort_lock_rows(rows, *choose_lock_key("wait_total", contention_columns()).value());
  EXPECT_EQ(rows[0].name, "do_fork+0x20");
  EXPECT_EQ(rows[0].contended, 3u);
  EXPECT_EQ(rows[0].total_ns, 250u);
  EXPECT_EQ(rows[0].shortest_ns, 50u);
  EXPECT_EQ(rows[1].name, "do_exit+0x20");
}

TEST(RowsOfLiveWaits, AreChosenByFunctionsInTheirStacks) {
  LiveWaitOptions options;
  options.callers.functions = {"fork"};
  auto rows =
      rows_of_live_waits({wait({0x310, 0x410, 0x620}, 2, 200), wait({0x310, 0x410, 0x720}, 4, 40)},
                         options, kFunctions, name_of);
  EXPECT_EQ(rows.size(), 1u);
}

TEST(RowsOfLiveWaits, ThreadsKeepTheirNames) {
  LockWaits::Row row = wait({}, 1, 10);
  row.what = 42;
  row.comm = "worker";
  auto rows = rows_of_live_waits({row}, {.grouping = LockGrouping::kThread}, kFunctions, name_of);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].key, 42u);
  EXPECT_EQ(rows[0].name, "worker");
  EXPECT_EQ(rows[0].acquired, 1u);
}

}  // namespace
}  // namespace sonde
