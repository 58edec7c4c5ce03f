#include "tui/terminal/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tui/terminal/glyphs.h"
#include "tui/terminal/screen_writer.h"

namespace sonde::tui {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kHan = "\xe6\xbc\xa2";  // 漢, two columns

TEST(Glyphs, WhatCouldSteerATerminalIsReplaced) {
  for (std::string_view bad : {"\033", "\n", "\x7f", "\xc2\x9b", "\xff", "\xe6\xbc"}) {
    std::string_view text = bad;
    EXPECT_EQ(take_character(text), kReplacement) << bad;
  }
}

TEST(Glyphs, Widths) {
  EXPECT_EQ(columns_of("abc"), 3u);
  EXPECT_EQ(columns_of(kHan), 2u);
  EXPECT_EQ(columns_of("e\xcc\x81"), 1u);  // a combining accent
}

TEST(Grid, TextIsCutAtTheEdgeAndAtTheLimit) {
  Grid grid(1, 5);
  EXPECT_EQ(grid.put(0, 3, "abc", {}), 5u);
  EXPECT_EQ(grid.row_text(0), "   ab");
  EXPECT_EQ(grid.put(0, 0, "abc", {}, 2), 2u);
  EXPECT_EQ(grid.row_text(0), "ab ab");
  EXPECT_EQ(grid.put(7, 0, "abc", {}), 0u);  // no such row
}

TEST(Grid, WideCharactersAreNeverHalved) {
  Grid grid(1, 4);
  grid.put(0, 3, kHan, {});
  EXPECT_EQ(grid.row_text(0), "");
  grid.put(0, 1, kHan, {});
  EXPECT_EQ(grid.row_text(0), " " + std::string(kHan));
  grid.put(0, 2, "x", {});  // over its second half
  EXPECT_EQ(grid.row_text(0), "  x");
}

TEST(ScreenWriter, OnlyWhatChangedIsWritten) {
  ScreenWriter writer(ColorDepth::kNone, true);
  Grid grid(2, 10);
  grid.put(0, 0, "one", {});
  grid.put(1, 0, "two", {});
  EXPECT_THAT(writer.update(grid), HasSubstr("two"));
  EXPECT_EQ(writer.update(grid), "");
  grid.put(1, 1, "o", {});
  std::string change = writer.update(grid);
  EXPECT_THAT(change, HasSubstr("\033[2;2H"));
  EXPECT_THAT(change, Not(HasSubstr("one")));
  writer.forget();
  EXPECT_THAT(writer.update(grid), HasSubstr("one"));
}

TEST(ScreenWriter, AnotherSizeIsDrawnWhole) {
  ScreenWriter writer(ColorDepth::kNone, true);
  Grid small(1, 10);
  small.put(0, 0, "one", {});
  (void)writer.update(small);
  Grid large(2, 10);
  large.put(0, 0, "one", {});
  EXPECT_THAT(writer.update(large), HasSubstr("one"));
}

TEST(ScreenWriter, WithoutUtf8EverythingIsAscii) {
  ScreenWriter writer(ColorDepth::kNone, false);
  Grid grid(1, 10);
  grid.put(0, 0, "│" + std::string(kHan) + "x", {});
  for (char c : writer.update(grid)) EXPECT_GE(c, 0);
}

TEST(Style, ColoursAreAsNearAsTheTerminalComes) {
  Style style{.foreground = Color::rgb(255, 0, 0)};
  EXPECT_EQ(sgr(style, ColorDepth::kTrue), "\033[0;38;2;255;0;0m");
  EXPECT_EQ(sgr(style, ColorDepth::k256), "\033[0;38;5;196m");
  EXPECT_EQ(sgr(style, ColorDepth::k16), "\033[0;91m");
  EXPECT_EQ(sgr(style, ColorDepth::kNone), "\033[0m");
  EXPECT_EQ(sgr(Style{.background = Color::palette(1), .bold = true}, ColorDepth::k16),
            "\033[0;1;41m");
}

Variables with(std::map<std::string, std::string, std::less<>> values) {
  return [values](std::string_view name) -> std::optional<std::string> {
    auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Style, DepthComesFromTheEnvironment) {
  EXPECT_EQ(color_depth(with({{"TERM", "xterm"}})), ColorDepth::k16);
  EXPECT_EQ(color_depth(with({{"TERM", "xterm-256color"}})), ColorDepth::k256);
  EXPECT_EQ(color_depth(with({{"TERM", "xterm"}, {"COLORTERM", "truecolor"}})), ColorDepth::kTrue);
  EXPECT_EQ(color_depth(with({{"TERM", "xterm-256color"}, {"NO_COLOR", "1"}})), ColorDepth::kNone);
  EXPECT_TRUE(speaks_utf8(with({{"LANG", "C.UTF-8"}})));
  EXPECT_FALSE(speaks_utf8(with({{"LC_ALL", "C"}, {"LANG", "C.UTF-8"}})));
}

TEST(Grid, TakesInAnother) {
  Grid grid(2, 6), part(2, 4);
  part.put(0, 0, "ab漢", {});
  grid.put(1, 0, "xxxxxx", {});
  grid.place(0, 1, part);
  EXPECT_EQ(grid.row_text(0), " ab漢");
  EXPECT_EQ(grid.row_text(1), "x    x");
  grid.place(1, 4, part);  // clipped
  EXPECT_EQ(grid.row_text(1), "x   ab");
}

}  // namespace
}  // namespace sonde::tui
