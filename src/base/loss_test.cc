#include "base/loss.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(ReadBytes, WhatIsUnreadAndWhatIsDamagedAreSharesOfAll) {
  EXPECT_EQ(ReadBytes{}.lost_share(), 0);
  EXPECT_DOUBLE_EQ((ReadBytes{.promised = 1000, .unread = 250, .records = 750}.lost_share()), 0.25);
  EXPECT_DOUBLE_EQ((ReadBytes{.promised = 1000, .records = 1000, .damaged = 40}.lost_share()),
                   0.04);
  ReadBytes both{.promised = 1000, .unread = 250, .records = 750, .damaged = 75};
  EXPECT_DOUBLE_EQ(both.lost_share(), 0.325);
  // Half of the file was read, and a tenth of what its compressed records contain is damaged.
  ReadBytes compressed{.promised = 1000, .unread = 500, .records = 10'000, .damaged = 1000};
  EXPECT_DOUBLE_EQ(compressed.lost_share(), 0.55);
}

TEST(ReadBytes, SumsTooLargeForTheirTypeStayLarge) {
  ReadBytes sum{.promised = UINT64_MAX - 5, .unread = UINT64_MAX - 5};
  sum.add({.promised = 100, .unread = 100});
  EXPECT_EQ(sum.promised, UINT64_MAX);
  EXPECT_EQ(sum.lost_share(), 1);
}

TEST(LossLedger, OnlyDamageIsDamage) {
  LossLedger losses;
  losses.add_bytes({.promised = 1000, .records = 1000});
  losses.add(LossKind::k_lost_by_kernel, 5);
  losses.add(LossKind::k_bad_symbol_source, 1);
  EXPECT_EQ(losses.damage_summary(), "");
  EXPECT_TRUE(losses.damage().empty());
  losses.add(LossKind::k_unfinished_file);
  EXPECT_EQ(losses.damage_summary(), "the recording is incomplete");
  EXPECT_EQ(losses.damage().size(), 2u);
}

TEST(LossLedger, TheLimitIsMoreThanATenth) {
  LossLedger losses;
  losses.add_bytes({.promised = 1000, .unread = 100, .records = 900});
  losses.add(LossKind::k_truncated_file, 100, "at file offset 0x20");
  EXPECT_FALSE(losses.lost_too_much());
  EXPECT_EQ(losses.damage()[0], "Damaged: 10.0% of the recording could not be read");
  losses.add_bytes({.promised = 1, .unread = 1});
  EXPECT_TRUE(losses.lost_too_much());
  EXPECT_EQ(losses.damage()[0],
            "Damaged: 10.1% of the recording could not be read; the exit status is 1");
  EXPECT_EQ(losses.damage()[1], "  " + LossLedger::text(losses.entries()[0]));
}

TEST(LossLedger, SmallSharesAreNotCalledNothing) {
  LossLedger losses;
  losses.add_bytes({.promised = 1'000'000, .records = 1'000'000, .damaged = 8});
  losses.add(LossKind::k_bad_record);
  EXPECT_EQ(losses.damage_summary(), "less than 0.1% of the recording could not be read");
}

TEST(LossLedger, ALargeWholeRecordingDoesNotHideASmallDamagedOne) {
  LossLedger all, whole, damaged;
  whole.add_bytes({.promised = 1'000'000, .records = 1'000'000});
  damaged.add_bytes({.promised = 100, .unread = 50, .records = 50});
  damaged.add(LossKind::k_truncated_file, 50);
  all.merge(whole);
  all.merge(damaged);
  EXPECT_EQ(all.lost_share(), 0.5);
  EXPECT_TRUE(all.lost_too_much());
  EXPECT_EQ(all.count(LossKind::k_truncated_file), 50u);
}

}  // namespace
}  // namespace sonde
