#include "base/expansion_allowance.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

constexpr ExpansionAllowance::Limits kSmall{.usual_ratio = 10, .beyond_usual = 100, .at_once = 500};

TEST(ExpansionAllowance, UsualGrowthIsPaidForByTheInput) {
  ExpansionAllowance allowance(kSmall);
  for (int i = 0; i < 1000; ++i) {
    Expansion expansion("section", allowance);
    EXPECT_TRUE(expansion.grow(10, 100));
  }
  EXPECT_TRUE(allowance.take(100));
}

TEST(ExpansionAllowance, BeyondThatEverythingSharesOneAllowance) {
  ExpansionAllowance allowance(kSmall);
  Expansion first("first", allowance), second("second", allowance);
  EXPECT_TRUE(first.grow(1, 70));   // 60 beyond
  EXPECT_TRUE(second.grow(1, 50));  // 40 beyond
  EXPECT_FALSE(second.grow(0, 1));
  auto refused = first.grow(0, 1);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("first: 1 bytes expand to at least 71"))
      << refused.error().message;
  EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
}

TEST(ExpansionAllowance, PiecesOfOneThingAreCountedTogether) {
  ExpansionAllowance allowance(kSmall);
  Expansion expansion("stream", allowance);
  EXPECT_TRUE(expansion.grow(0, 100));  // before its input is known to be longer
  EXPECT_TRUE(expansion.grow(100, 1000));
  EXPECT_EQ(expansion.made(), 1100u);
  EXPECT_FALSE(expansion.grow(0, 1));
  EXPECT_TRUE(expansion.grow(1, 10));
}

TEST(ExpansionAllowance, WhatIsRefusedIsNotCounted) {
  ExpansionAllowance allowance(kSmall);
  Expansion expansion("stream", allowance);
  EXPECT_FALSE(expansion.grow(1, 111));
  EXPECT_EQ(expansion.made(), 0u);
  EXPECT_TRUE(expansion.grow(1, 110));
}

TEST(ExpansionAllowance, OnePieceInMemoryIsBounded) {
  ExpansionAllowance allowance(kSmall);
  EXPECT_TRUE(Expansion("section", allowance).grow_in_memory(1000, 500));
  auto refused = Expansion("section", allowance).grow_in_memory(1000, 501);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("section: it expands to at least 501 bytes"));
}

TEST(ExpansionAllowance, NumbersThatDoNotFitAreRefused) {
  ExpansionAllowance allowance(kSmall);
  Expansion expansion("section", allowance);
  EXPECT_TRUE(expansion.grow(1, 10));
  EXPECT_FALSE(expansion.grow(1, UINT64_MAX));
}

TEST(ExpansionAllowance, SharesAreGivenBack) {
  ExpansionAllowance allowance(kSmall);
  {
    ExpansionShare share(allowance);
    EXPECT_TRUE(share.take(1, 110));
    ExpansionShare moved = std::move(share);
    EXPECT_FALSE(moved.take(0, 1));
    moved = ExpansionShare(allowance);
    EXPECT_TRUE(moved.take(0, 100));
  }
  EXPECT_TRUE(allowance.take(100));
}

TEST(ExpansionAllowance, RecordersHaveLittle) {
  ExpansionAllowance allowance(ExpansionAllowance::of_analysis(uint64_t{64} << 30));
  Expansion before("before", allowance);
  EXPECT_TRUE(before.grow(0, uint64_t{1} << 30));
  allowance.become_recorder();
  ExpansionAllowance::Limits small = ExpansionAllowance::of_recorder();
  Expansion after("after", allowance);
  EXPECT_FALSE(after.grow(0, small.beyond_usual + 1));
  EXPECT_TRUE(after.grow(0, small.beyond_usual));
  EXPECT_FALSE(after.grow(0, 1));
  allowance.become_recorder();  // gives nothing back
  EXPECT_FALSE(after.grow(0, 1));
}

TEST(ExpansionAllowance, AnalysesHaveAShareOfTheMemory) {
  auto limits = ExpansionAllowance::of_analysis(uint64_t{16} << 30);
  EXPECT_EQ(limits.beyond_usual, uint64_t{2} << 30);
  EXPECT_EQ(limits.at_once, uint64_t{8} << 30);
  EXPECT_EQ(ExpansionAllowance::of_analysis(0).beyond_usual, uint64_t{256} << 20);
}

}  // namespace
}  // namespace sonde
