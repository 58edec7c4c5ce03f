#include "event/parser/owned_group.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace sonde {
namespace {

TEST(OwnedGroup, CarriesTheProcessAndShowsWithoutIt) {
  std::string group = own_group("sdt_libc");
  EXPECT_NE(group, "sdt_libc");
  EXPECT_EQ(maker_of_group(group), ::getpid());
  EXPECT_EQ(shown_group(group), "sdt_libc");
}

TEST(OwnedGroup, LeavesOthersAlone) {
  for (std::string_view group : {"sched", "sonde_", "sonde_x_y", "sonde_12", "sonde__x", ""}) {
    EXPECT_EQ(maker_of_group(group), 0) << group;
    EXPECT_EQ(shown_group(group), group);
  }
  EXPECT_EQ(maker_of_group("sonde_99999999999999_x"), 0);
  EXPECT_EQ(shown_group("sonde_12_x_y"), "x_y");
}

}  // namespace
}  // namespace sonde
