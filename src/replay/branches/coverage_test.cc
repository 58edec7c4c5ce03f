#include "replay/branches/coverage.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(Coverage, SplitsStretchesWhereOthersBeginAndEnd) {
  std::vector<CodePiece> pieces =
      pieces_of(std::vector<CodeStretch>{{.first = 0x10, .last = 0x20, .runs = 3, .predicted = 2},
                                         {.first = 0x18, .last = 0x20, .runs = 1, .predicted = 0},
                                         {.first = 0x18, .last = 0x28, .runs = 4, .predicted = 4}});
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].first, 0x10u);
  EXPECT_EQ(pieces[0].last, 0x17u);
  EXPECT_EQ(pieces[0].runs, 3u);
  EXPECT_EQ(pieces[0].begins, 3u);
  EXPECT_EQ(pieces[0].ends, 0u);
  EXPECT_EQ(pieces[1].first, 0x18u);
  EXPECT_EQ(pieces[1].last, 0x20u);
  EXPECT_EQ(pieces[1].runs, 8u);
  EXPECT_EQ(pieces[1].begins, 5u);
  EXPECT_EQ(pieces[1].ends, 4u);
  EXPECT_EQ(pieces[1].predicted, 2u);
  EXPECT_EQ(pieces[2].first, 0x21u);
  EXPECT_EQ(pieces[2].last, 0x28u);
  EXPECT_EQ(pieces[2].runs, 4u);
  EXPECT_EQ(pieces[2].begins, 0u);
  EXPECT_EQ(pieces[2].ends, 4u);
}

TEST(Coverage, LeavesGapsBetweenStretches) {
  std::vector<CodePiece> pieces = pieces_of(std::vector<CodeStretch>{
      {.first = 0x10, .last = 0x10, .runs = 1}, {.first = 0x20, .last = 0x28, .runs = 2}});
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].last, 0x10u);
  EXPECT_EQ(pieces[1].first, 0x20u);
  EXPECT_EQ(pieces[1].runs, 2u);
}

}  // namespace
}  // namespace sonde
