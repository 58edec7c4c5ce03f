#include "kwork/work_table.h"

#include <gtest/gtest.h>

#include "kwork/work_names.h"

namespace sonde {
namespace {

TEST(WorkTable, SpansReachFromEntryToExitAndRememberTheRaise) {
  Work work({.work_class = WorkClass::kSoftirq, .cpu = 1, .id = 3});
  WorkSpan span;
  work.raise(100);
  work.begin(150);
  ASSERT_TRUE(work.end(180, span));
  EXPECT_EQ(span.start_ns, 150u);
  EXPECT_EQ(span.end_ns, 180u);
  EXPECT_EQ(span.raised_ns, 100u);
  work.begin(200);
  ASSERT_TRUE(work.end(201, span));
  EXPECT_EQ(span.raised_ns, 0u);
}

TEST(WorkTable, AnEndBelongsToTheLatestBeginning) {
  Work work({.cpu = 0, .id = 9});
  WorkSpan span;
  work.begin(10);
  work.begin(20);
  ASSERT_TRUE(work.end(25, span));
  EXPECT_EQ(span.start_ns, 20u);
  ASSERT_TRUE(work.end(40, span));
  EXPECT_EQ(span.start_ns, 10u);
}

TEST(WorkTable, WhatFindsNoPartnerIsCountedByPhase) {
  WorkTable table;
  Work& work = table.find_or_add({.work_class = WorkClass::kWorkqueue, .cpu = 0, .id = 1});
  WorkSpan span;
  EXPECT_FALSE(work.end(5, span));
  EXPECT_FALSE(work.end_raise(6, span));
  work.raise(7);
  work.raise(8);
  work.begin(9);
  auto [raises, entries, exits] = table.without_partner();
  EXPECT_EQ(raises, 1u);
  EXPECT_EQ(entries, 2u);
  EXPECT_EQ(exits, 1u);
}

TEST(WorkTable, KeysAreOfClassCpuAndId) {
  WorkTable table;
  for (WorkKey key : {WorkKey{WorkClass::kIrq, 0, 9}, WorkKey{WorkClass::kSoftirq, 0, 9},
                      WorkKey{WorkClass::kIrq, 1, 9}, WorkKey{WorkClass::kIrq, 0, 9}})
    table.find_or_add(key);
  EXPECT_EQ(table.all().size(), 3u);
}

TEST(Work, SumsAndTheLongest) {
  Work work({});
  for (uint64_t length : {uint64_t{10}, uint64_t{30}, uint64_t{20}})
    work.add({.start_ns = 100, .end_ns = 100 + length});
  EXPECT_EQ(work.count, 3u);
  EXPECT_EQ(work.total_ns, 60u);
  EXPECT_EQ(work.average_ns(), 20u);
  EXPECT_EQ(work.longest_ns, 30u);
  EXPECT_EQ(work.longest_end_ns, 130u);
}

TEST(WorkLabel, SaysTheClassAndIsCut) {
  Work work({.work_class = WorkClass::kSoftirq, .cpu = 0, .id = 3});
  EXPECT_EQ(work_label(work), "(s)(null):3");
  work.name = "NET_RX";
  work.has_name = true;
  EXPECT_EQ(work_label(work), "(s)NET_RX:3");
  work.key.work_class = WorkClass::kIrq;
  EXPECT_EQ(work_label(work), "NET_RX:3");
  work.key.work_class = WorkClass::kWorkqueue;
  work.name = "a_function_with_a_name_beyond_all_measure";
  EXPECT_EQ(work_label(work), "(w)a_function_with_a_name_bey");
  work.has_name = false;
  EXPECT_EQ(work_label(work), "(w)0x3");
}

}  // namespace
}  // namespace sonde
