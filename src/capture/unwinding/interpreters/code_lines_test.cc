#include "capture/unwinding/interpreters/code_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sonde {
namespace {

enum Kind { kShort = 0, kSameLine = 10, kNextLine = 11, kNoColumns = 13, kLong = 14, kNone = 15 };

std::byte entry(int kind, int units) {
  return static_cast<std::byte>(0x80 | kind << 3 | (units - 1));
}

CodeLines lines_of(std::vector<std::byte> table, uint32_t first_line = 10) {
  return {table, first_line, {}};
}

CodeLines lines_of(std::vector<int> table, CodeLines::Form form) {
  std::vector<std::byte> bytes;
  for (int byte : table) bytes.push_back(static_cast<std::byte>(byte));
  return {bytes, 10, form};
}

TEST(CodeLines, EachKindOfEntryCoversItsUnits) {
  std::byte any{0x21};
  CodeLines lines = lines_of({entry(kLong, 1), std::byte{4}, std::byte{2}, any, any,  // line 12
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

TEST(CodeLines, LargeDifferencesTakeSeveralBytes) {
  // 1000 = 15 · 64 + 40, doubled for the sign.
  CodeLines lines = lines_of({entry(kNoColumns, 1), std::byte{0x40 | 0x10}, std::byte{0x1f}});
  EXPECT_EQ(lines.line_at(0), 1010u);
}

TEST(CodeLines, WhatMakesNoSenseEndsTheTable) {
  std::byte any{0};
  EXPECT_EQ(lines_of({}).line_at(0), std::nullopt);
  EXPECT_EQ(lines_of({std::byte{0x01}, any}).line_at(0), std::nullopt);
  // A difference of 2^63 - 1, which no line has.
  std::vector<std::byte> huge{entry(kNoColumns, 1), std::byte{0x7e}};
  huge.insert(huge.end(), 9, std::byte{0x7f});
  huge.push_back(std::byte{0x0f});
  EXPECT_EQ(lines_of(huge).line_at(0), std::nullopt);
  // An entry that is cut off.
  CodeLines cut = lines_of({entry(kShort, 1), any, entry(kNextLine, 1), any});
  EXPECT_EQ(cut.line_at(0), 10u);
  EXPECT_EQ(cut.line_at(1), std::nullopt);
  // Before the first line of a file.
  EXPECT_EQ(lines_of({entry(kNoColumns, 1), std::byte{0x1f}}).line_at(0), std::nullopt);
}

TEST(CodeLines, AModuleBeginsBeforeItsFirstLine) {
  std::byte any{0};
  CodeLines lines =
      lines_of({entry(kNoColumns, 1), std::byte{3}, entry(kNextLine, 1), any, any}, 1);
  EXPECT_EQ(lines.line_at(0), std::nullopt);
  EXPECT_EQ(lines.line_at(1), 1u);
  EXPECT_EQ(lines.lowest(), 1u);
}

TEST(CodeLines, RangesOfPython310) {
  // Four bytes of line 11, two without a line, six of 11 again, and two of 9.
  CodeLines lines = lines_of({4, 1, 2, -128, 6, 0, 0, 5, 2, -7}, {.format = PYTHON_RANGES});
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

TEST(CodeLines, LineStartsBeforePython310) {
  // 255 bytes are not enough for the distance, and 127 lines not for the difference.
  CodeLines lines = lines_of({4, 1, 255, 0, 1, 127, 0, 73, 6, -2}, {.format = PYTHON_LINE_STARTS});
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

TEST(CodeLines, TheLastLineOfACutTableIsNotThatOfTheRest) {
  CodeLines lines = lines_of({4, 1}, {.format = PYTHON_LINE_STARTS, .is_cut = true});
  EXPECT_EQ(lines.line_at(1), 10u);
  EXPECT_EQ(lines.line_at(2), std::nullopt);
  EXPECT_EQ(lines_of({}, {.format = PYTHON_LINE_STARTS}).line_at(2), 10u);
}

TEST(CodeLines, ALineBeforeTheFirstEndsTheTable) {
  EXPECT_EQ(lines_of({2, -11, 2, 1}, {.format = PYTHON_RANGES}).line_at(0), std::nullopt);
  EXPECT_EQ(lines_of({2, -11, 2, 1}, {.format = PYTHON_LINE_STARTS}).line_at(1), std::nullopt);
}

/// A table of Ruby's: an index of `units`, at some of which an entry begins, and the entries'
/// lines.
std::vector<std::byte> ruby_table(uint32_t units, const std::vector<uint32_t>& begins,
                                  const std::vector<uint32_t>& entry_lines) {
  std::vector<uint64_t> index(RUBY_FIRST_BYTES / 8);
  auto count_at = [&](uint32_t unit) {
    return static_cast<uint64_t>(
        std::ranges::count_if(begins, [&](uint32_t begin) { return begin <= unit; }));
  };
  for (uint32_t unit = 0; unit < RUBY_FIRST_UNITS; ++unit)
    index[unit / 9] |= count_at(unit) << unit % 9 * 7;
  for (uint32_t first = RUBY_FIRST_UNITS; first < units; first += RUBY_BLOCK_UNITS) {
    uint64_t before = count_at(first - 1);
    index.push_back(before);
    size_t at = index.size();
    index.push_back(0);
    for (uint32_t word = 1; word < 8; ++word)
      index[at] |= (count_at(first + word * 64 - 1) - before) << (word - 1) * 9;
    index.resize(index.size() + 8);
    for (uint32_t begin : begins)
      if (begin >= first && begin - first < RUBY_BLOCK_UNITS)
        index[at + 1 + (begin - first) / 64] |= uint64_t{1} << (begin - first) % 64;
  }
  std::vector<std::byte> table;
  auto put = [&](auto value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    table.insert(table.end(), bytes, bytes + sizeof value);
  };
  put(ruby_lines{.kept_entries = static_cast<uint32_t>(entry_lines.size()), .units = units});
  for (uint32_t line : entry_lines) {
    put(line);
    put(uint64_t{0});
  }
  for (uint64_t word : index) put(word);
  return table;
}

CodeLines ruby_lines_of(const std::vector<std::byte>& table, bool is_cut = false) {
  return {table, 5, {.format = RUBY_INSTRUCTIONS, .is_cut = is_cut}};
}

TEST(CodeLines, TheLineOfARubyInstructionIsThatOfTheEntryBeforeIt) {
  std::vector<uint32_t> begins = {0, 8, 9, 53, 54, 55, 117, 118, 565, 566, 700, 1077};
  std::vector<uint32_t> lines;
  for (uint32_t i = 0; i < begins.size(); ++i) lines.push_back(10 + i * 3 % 7);
  CodeLines read = ruby_lines_of(ruby_table(1100, begins, lines));
  for (uint32_t unit = 0; unit < 1100; ++unit) {
    auto next = std::ranges::upper_bound(begins, unit);
    EXPECT_EQ(read.line_at(unit), lines[static_cast<size_t>(next - begins.begin()) - 1]) << unit;
  }
  EXPECT_EQ(read.line_at(1100), std::nullopt);
  EXPECT_EQ(read.lowest(), 5u);
  EXPECT_EQ(read.highest(), 16u);
}

TEST(CodeLines, OfARubyTableThatIsCutOnlyTheRestHasNoLine) {
  std::vector<uint32_t> begins = {0, 60, 600}, lines = {10, 11, 12};
  std::vector<std::byte> table = ruby_table(1100, begins, lines);
  table.resize(table.size() - size_t{2} * RUBY_BLOCK_BYTES);  // of units from 566 on
  CodeLines read = ruby_lines_of(table, true);
  EXPECT_EQ(read.line_at(565), 11u);
  EXPECT_EQ(read.line_at(566), std::nullopt);
  // Entries that are not there.
  CodeLines few = ruby_lines_of(ruby_table(1100, begins, {10, 11}), true);
  EXPECT_EQ(few.line_at(599), 11u);
  EXPECT_EQ(few.line_at(600), std::nullopt);
}

TEST(CodeLines, ARubyTableOfNonsenseHasNoLines) {
  EXPECT_EQ(ruby_lines_of(std::vector<std::byte>(4)).line_at(0), std::nullopt);
  EXPECT_EQ(ruby_lines_of(std::vector<std::byte>(300, std::byte{0xff})).line_at(0), std::nullopt);
  std::vector<std::byte> one(20);
  one[0] = std::byte{1};
  one[8] = std::byte{42};
  EXPECT_EQ(ruby_lines_of(one).line_at(7), 42u);  // a single entry has no index
}

}  // namespace
}  // namespace sonde
