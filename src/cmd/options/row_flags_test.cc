#include "cmd/options/row_flags.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(RelativeInto, TakesTwoWordsOnly) {
  bool relative = false;
  EXPECT_TRUE(relative_into(relative)("relative"));
  EXPECT_TRUE(relative);
  EXPECT_FALSE(relative_into(relative)("half"));
  EXPECT_TRUE(relative);
  EXPECT_TRUE(relative_into(relative)("absolute"));
  EXPECT_FALSE(relative);
}

}  // namespace
}  // namespace sonde
