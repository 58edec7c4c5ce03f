#include "tui/terminal/text_screen.h"

#include <gtest/gtest.h>

namespace sonde::tui {
namespace {

TEST(TextScreen, LinesAreCutByWhatShows) {
  EXPECT_EQ(cut_line("abcdef", 3), "abc");
  EXPECT_EQ(cut_line("abc", 80), "abc");
  // A colour takes no space, and is reset after the cut.
  EXPECT_EQ(cut_line("\033[31mabc\033[mdef", 2), "\033[31mab\033[m");
  EXPECT_EQ(cut_line("\u00e9t\u00e9s", 3), "\u00e9t\u00e9");
  EXPECT_EQ(cut_line("a\033[31", 5), "a");
}

}  // namespace
}  // namespace sonde::tui
