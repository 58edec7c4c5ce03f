#include "capture/unwinding/interpreters/python_lines.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde {
namespace {

enum Kind { kShort = 0, kSameLine = 10, kNextLine = 11, kNoColumns = 13, kLong = 14, kNone = 15 };

std::byte entry(int kind, int units) {
  return static_cast<std::byte>(0x80 | kind << 3 | (units - 1));
}

PythonLines lines_of(std::vector<std::byte> table, uint32_t first_line = 10) {
  return {table, first_line, {}};
}

PythonLines lines_of(std::vector<int> table, PythonLines::Form form) {
  std::vector<std::byte> bytes;
  for (int byte : table) bytes.push_back(static_cast<std::byte>(byte));
  return {bytes, 10, form};
}

TEST(PythonLines, EachKindOfEntryCoversItsUnits) {
  std::byte any{0x21};
  PythonLines lines = lines_of({entry(kLong, 1), std::byte{4}, std::byte{2}, any, any,  // line 12
                                entry(kShort, 8), any,                                  // 12
                                entry(kNextLine, 2), any, any,                          // 13
                                entry(kNone, 1),                                        //
                                entry(kSameLine, 1), any, any,                          // 13
                                entry(kNoColumns, 1), std::byte{7}});                   // 10
  EXPECT_EQ(lines.line_at(0), 12u);
  EXPECT_EQ(lines.line_at(1), 12u);
  EXPECT_EQ(lines.line_at(8), 12u);
  EXPECT_EQ(lines.line_at(9), 13u);
  EXPECT_EQ(lines.line_at(10), 13u);
  EXPECT_EQ(lines.line_at(11), std::nullopt);
  EXPECT_EQ(lines.line_at(12), 13u);
  EXPECT_EQ(lines.line_at(13), 10u);
  EXPECT_EQ(lines.line_at(14), std::nullopt);
  EXPECT_EQ(lines.lowest(), 10u);
  EXPECT_EQ(lines.highest(), 13u);
}

TEST(PythonLines, LargeDifferencesTakeSeveralBytes) {
  // 1000 = 15 · 64 + 40, doubled for the sign.
  PythonLines lines = lines_of({entry(kNoColumns, 1), std::byte{0x40 | 0x10}, std::byte{0x1f}});
  EXPECT_EQ(lines.line_at(0), 1010u);
}

TEST(PythonLines, WhatMakesNoSenseEndsTheTable) {
  std::byte any{0};
  EXPECT_EQ(lines_of({}).line_at(0), std::nullopt);
  EXPECT_EQ(lines_of({std::byte{0x01}, any}).line_at(0), std::nullopt);
  // An entry that is cut off.
  PythonLines cut = lines_of({entry(kShort, 1), any, entry(kNextLine, 1), any});
  EXPECT_EQ(cut.line_at(0), 10u);
  EXPECT_EQ(cut.line_at(1), std::nullopt);
  // Before the first line of a file.
  EXPECT_EQ(lines_of({entry(kNoColumns, 1), std::byte{0x1f}}).line_at(0), std::nullopt);
}

TEST(PythonLines, AModuleBeginsBeforeItsFirstLine) {
  std::byte any{0};
  PythonLines lines =
      lines_of({entry(kNoColumns, 1), std::byte{3}, entry(kNextLine, 1), any, any}, 1);
  EXPECT_EQ(lines.line_at(0), std::nullopt);
  EXPECT_EQ(lines.line_at(1), 1u);
  EXPECT_EQ(lines.lowest(), 1u);
}

TEST(PythonLines, RangesOfPython310) {
  // Four bytes of line 11, two without a line, six of 11 again, and two of 9.
  PythonLines lines = lines_of({4, 1, 2, -128, 6, 0, 0, 5, 2, -7}, {.format = PYTHON_RANGES});
  EXPECT_EQ(lines.line_at(0), 11u);
  EXPECT_EQ(lines.line_at(1), 11u);
  EXPECT_EQ(lines.line_at(2), std::nullopt);
  EXPECT_EQ(lines.line_at(3), 11u);
  EXPECT_EQ(lines.line_at(5), 11u);
  EXPECT_EQ(lines.line_at(6), 9u);
  EXPECT_EQ(lines.line_at(7), std::nullopt);
  EXPECT_EQ(lines.lowest(), 9u);
  EXPECT_EQ(lines.highest(), 11u);
}

TEST(PythonLines, LineStartsBeforePython310) {
  // 255 bytes are not enough for the distance, and 127 lines not for the difference.
  PythonLines lines =
      lines_of({4, 1, 255, 0, 1, 127, 0, 73, 6, -2}, {.format = PYTHON_LINE_STARTS});
  EXPECT_EQ(lines.line_at(0), 10u);
  EXPECT_EQ(lines.line_at(1), 10u);
  EXPECT_EQ(lines.line_at(2), 11u);
  EXPECT_EQ(lines.line_at(129), 11u);
  EXPECT_EQ(lines.line_at(130), 211u);
  EXPECT_EQ(lines.line_at(132), 211u);
  EXPECT_EQ(lines.line_at(133), 209u);
  EXPECT_EQ(lines.line_at(100000), 209u);
  EXPECT_EQ(lines.highest(), 211u);
}

TEST(PythonLines, TheLastLineOfACutTableIsNotThatOfTheRest) {
  PythonLines lines = lines_of({4, 1}, {.format = PYTHON_LINE_STARTS, .is_cut = true});
  EXPECT_EQ(lines.line_at(1), 10u);
  EXPECT_EQ(lines.line_at(2), std::nullopt);
  EXPECT_EQ(lines_of({}, {.format = PYTHON_LINE_STARTS}).line_at(2), 10u);
}

TEST(PythonLines, ALineBeforeTheFirstEndsTheTable) {
  EXPECT_EQ(lines_of({2, -11, 2, 1}, {.format = PYTHON_RANGES}).line_at(0), std::nullopt);
  EXPECT_EQ(lines_of({2, -11, 2, 1}, {.format = PYTHON_LINE_STARTS}).line_at(1), std::nullopt);
}

}  // namespace
}  // namespace sonde
