#include "tui/pages/line_keys.h"

#include <gtest/gtest.h>

namespace sonde::tui {
namespace {

struct Recorder {
  ptrdiff_t moved = 0, paged = 0;
  size_t place = 7;
  void move(ptrdiff_t lines) { moved += lines; }
  void page(ptrdiff_t pages) { paged += pages; }
  void to(size_t at) { place = at; }
  void to_first() { place = 0; }
  void to_last() { place = 1000; }
  [[nodiscard]] size_t top() const { return 100; }
};

Key pressed(Key::Kind kind, size_t row = 0) {
  Key key;
  key.kind = kind;
  key.row = row;
  return key;
}

TEST(LineKeys, MoveTheView) {
  Recorder view;
  size_t shift = 0;
  EXPECT_TRUE(move_in_lines(pressed(Key::Kind::kWheelDown), view, 2, shift));
  EXPECT_TRUE(move_in_lines(pressed(Key::Kind::kUp), view, 2, shift));
  EXPECT_EQ(view.moved, 2);
  EXPECT_TRUE(move_in_lines(pressed(Key::Kind::kPageUp), view, 2, shift));
  EXPECT_EQ(view.paged, -1);
  EXPECT_TRUE(move_in_lines(pressed(Key::Kind::kPress, 1), view, 2, shift));
  EXPECT_EQ(view.place, 7u);  // on a title
  EXPECT_TRUE(move_in_lines(pressed(Key::Kind::kPress, 5), view, 2, shift));
  EXPECT_EQ(view.place, 103u);
  EXPECT_TRUE(move_in_lines(pressed(Key::Kind::kEnd), view, 2, shift));
  EXPECT_EQ(view.place, 1000u);
  EXPECT_TRUE(move_in_lines(pressed(Key::Kind::kHome), view, 2, shift));
  EXPECT_EQ(view.place, 0u);
  EXPECT_FALSE(move_in_lines(pressed(Key::Kind::kEnter), view, 2, shift));
}

TEST(LineKeys, ShiftStopsAtTheFirstColumn) {
  Recorder view;
  size_t shift = 0;
  EXPECT_TRUE(move_in_lines(pressed(Key::Kind::kRight), view, 2, shift));
  EXPECT_GT(shift, 0u);
  EXPECT_TRUE(move_in_lines(pressed(Key::Kind::kLeft), view, 2, shift));
  EXPECT_TRUE(move_in_lines(pressed(Key::Kind::kLeft), view, 2, shift));
  EXPECT_EQ(shift, 0u);
}

TEST(LineKeys, TheFootSaysWhereTheCursorIs) {
  Grid grid(2, 30);
  draw_foot(grid, Theme(), "h help", 4, 20);
  std::string text = grid.row_text(1);
  EXPECT_NE(text.find("h help"), std::string::npos);
  EXPECT_NE(text.find("5/20"), std::string::npos);
}

}  // namespace
}  // namespace sonde::tui
