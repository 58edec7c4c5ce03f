#include "trace/sources/bpf_totals.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

constexpr SyscallAbis kTotalsAbis = {SyscallAbi::kX86_64, SyscallAbi::kI386};
using Row = SyscallTotals::Row;

TEST(BpfTotals, ResultsOfACallAreOneRow) {
  std::vector<Row> rows = {
      {.who = 11,
       .number = 0,
       .error = 11,
       .calls = 2,
       .total_ns = 20,
       .min_ns = 5,
       .max_ns = 15,
       .squares_ns2 = 250},
      {.who = 11,
       .number = 0,
       .calls = 3,
       .total_ns = 300,
       .min_ns = 90,
       .max_ns = 110,
       .squares_ns2 = 30'200},
      {.who = 11,
       .number = 0,
       .error = 4,
       .calls = 1,
       .total_ns = 7,
       .min_ns = 7,
       .max_ns = 7,
       .squares_ns2 = 49},
      {.who = 11, .number = 1, .calls = 1, .total_ns = 1, .min_ns = 1, .max_ns = 1},
  };
  std::vector<SyscallTotals::Name> names = {{11, 10, "cat"}};
  TotalsNaming naming{.errno_totals = true, .abis = kTotalsAbis};
  std::vector<CallTotals> totals = total_rows(rows, names, naming);
  ASSERT_EQ(totals.size(), 2U);
  const CallTotals& read = totals[0];
  EXPECT_EQ(read.pid, 10);
  EXPECT_EQ(read.tid, 11);
  EXPECT_EQ(read.comm, "cat");
  EXPECT_EQ(read.calls, 6U);
  EXPECT_EQ(read.errors, 3U);
  EXPECT_EQ(read.total_ns, 327U);
  EXPECT_EQ(read.min_ns, 5U);
  EXPECT_EQ(read.max_ns, 110U);
  EXPECT_DOUBLE_EQ(read.squares_ns2, 30'499);
  ASSERT_EQ(read.by_errno.size(), 2U);
  EXPECT_EQ(read.by_errno[0].error, 4);
  EXPECT_EQ(read.by_errno[1].error, 11);
  EXPECT_EQ(read.by_errno[1].count, 2U);
  naming.errno_totals = false;
  EXPECT_TRUE(total_rows(rows, names, naming)[0].by_errno.empty());
}

TEST(BpfTotals, TablesOf32BitProgramsAreOthers) {
  std::vector<Row> rows = {{.who = 11, .number = 3, .calls = 1},
                           {.who = 11, .number = 3, .compat = true, .calls = 1}};
  std::vector<CallTotals> totals = total_rows(rows, {}, {.abis = kTotalsAbis});
  ASSERT_EQ(totals.size(), 2U);
  EXPECT_EQ(totals[0].abi, SyscallAbi::kX86_64);
  EXPECT_EQ(totals[1].abi, SyscallAbi::kI386);
  EXPECT_EQ(totals[0].pid, 11) << "a thread of which nothing is known";
}

TEST(BpfTotals, GroupsAndAllHaveNoThread) {
  std::vector<Row> rows = {{.who = 77, .number = 3, .calls = 1}};
  auto group = total_rows(rows, {}, {.by = TraceRequest::Totals::kByCgroup, .abis = kTotalsAbis});
  ASSERT_EQ(group.size(), 1U);
  EXPECT_EQ(group[0].cgroup, 77U);
  EXPECT_EQ(group[0].tid, 0);
  rows[0].who = 0;
  auto all = total_rows(rows, {}, {.by = TraceRequest::Totals::kAll, .abis = kTotalsAbis});
  EXPECT_EQ(all[0].cgroup, 0U);
  EXPECT_EQ(all[0].pid, 0);
}

}  // namespace
}  // namespace sonde
