#include "perfdata/header/guest_ids.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(GuestIds, TellWhichVirtualCpuAnIdAndAThreadBelongTo) {
  GuestIds ids;
  EXPECT_TRUE(ids.empty());
  EXPECT_TRUE(ids.add(13, 100, 0, 201));
  EXPECT_TRUE(ids.add(14, 300, 7, UINT32_MAX));
  EXPECT_TRUE(ids.add(15, 100, 1, 202));
  EXPECT_FALSE(ids.empty());
  EXPECT_EQ(ids.machines(), (std::vector<uint32_t>{100, 300}));
  ASSERT_NE(ids.of(14), nullptr);
  EXPECT_EQ(ids.of(14)->guest, 1u);
  EXPECT_EQ(ids.of(14)->machine_pid, 300u);
  EXPECT_EQ(ids.of(14)->vcpu, 7u);
  EXPECT_EQ(ids.of(15)->guest, 0u);
  EXPECT_EQ(ids.of(11), nullptr);
  ASSERT_NE(ids.run_by(202), nullptr);
  EXPECT_EQ(ids.run_by(202)->vcpu, 1u);
  EXPECT_EQ(ids.run_by(UINT32_MAX), nullptr);
}

TEST(GuestIds, HaveRoomForAsManyGuestsAsTaskNumbersTellApart) {
  GuestIds ids;
  for (uint32_t guest = 0; guest < GuestIds::kMostGuests; ++guest)
    EXPECT_TRUE(ids.add(1000 + guest, 1 + guest, 0, UINT32_MAX));
  EXPECT_FALSE(ids.add(1, 5000, 0, UINT32_MAX));
  EXPECT_EQ(ids.of(1), nullptr);
  EXPECT_TRUE(ids.add(2, 1, 3, UINT32_MAX));
}

}  // namespace
}  // namespace sonde
