#include "probe/source/fetch_text.h"

#include <elf.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(FetchText, FollowsPointers) {
  FetchText fetch = FetchText::of_register("%di");
  EXPECT_EQ(fetch.text(), "%di");
  EXPECT_FALSE(fetch.is_memory());
  fetch.follow(24, false);
  fetch.move(8);
  EXPECT_EQ(fetch.text(), "+32(%di)");
  EXPECT_TRUE(fetch.is_memory());
  fetch.follow(0, true);
  fetch.move(-4);
  EXPECT_EQ(fetch.text(), "-u4(+32(%di))");
}

TEST(FetchText, BeginsAtSymbolsAndOffsets) {
  FetchText symbol = FetchText::of_symbol("@jiffies", 0);
  EXPECT_EQ(symbol.text(), "@jiffies+0");
  symbol.move(8);
  EXPECT_EQ(symbol.text(), "@jiffies+8");
  EXPECT_EQ(FetchText::of_file_offset(0x4010).text(), "@+0x4010");
  EXPECT_EQ(FetchText::of_constant(-3).text(), "\\-3");
}

/// A pointer whose value is an address of the object can only be followed.
TEST(FetchText, FollowsKnownAddresses) {
  FetchText fetch = FetchText::of_address(FetchText::of_file_offset(0x2000));
  EXPECT_TRUE(fetch.is_address());
  EXPECT_FALSE(fetch.is_memory());
  fetch.follow(4, false);
  EXPECT_EQ(fetch.text(), "@+0x2004");
  EXPECT_TRUE(fetch.is_memory());
}

TEST(FetchText, NamesRegistersAsTheTracerDoes) {
  EXPECT_EQ(fetch_register(5, EM_X86_64), "%di");
  EXPECT_EQ(fetch_register(7, EM_X86_64), "%sp");
  EXPECT_EQ(fetch_register(17, EM_X86_64), std::nullopt);  // xmm0
  EXPECT_EQ(fetch_register(0, EM_AARCH64), "%x0");
  EXPECT_EQ(fetch_register(31, EM_AARCH64), "%sp");
  EXPECT_EQ(fetch_register(64, EM_AARCH64), std::nullopt);  // v0
  EXPECT_EQ(fetch_register(0, EM_RISCV), std::nullopt);
}

TEST(FetchText, NamesArguments) {
  RequestedArgument argument{.kind = RequestedArgument::Kind::kVariable, .what = "path"};
  EXPECT_EQ(fetch_name(argument), "path");
  argument.type = "string";
  EXPECT_EQ(fetch_name(argument), "path_string");
  argument.type = "x8[4]";
  EXPECT_EQ(fetch_name(argument), "path_x8_4_");
  argument.members = {RequestedMember{.kind = RequestedMember::Kind::kArrow, .name = "next"},
                      RequestedMember{.kind = RequestedMember::Kind::kIndex, .index = 2}};
  EXPECT_EQ(fetch_name(argument), "next");
  argument.name = "own";
  EXPECT_EQ(fetch_name(argument), "own");
}

TEST(FetchText, FindsTheContainerOfBitFields) {
  auto in_word = bit_field_fetch(28 * 8 + 5, 3, 4);
  ASSERT_TRUE(in_word);
  EXPECT_EQ(in_word->offset, 28u);
  EXPECT_EQ(in_word->type, "b3@5/32");
  // Packed across words: a larger container that begins at the byte.
  auto across = bit_field_fetch(30, 5, 4);
  ASSERT_TRUE(across);
  EXPECT_EQ(across->offset, 3u);
  EXPECT_EQ(across->type, "b5@6/64");
  EXPECT_FALSE(bit_field_fetch(4, 64, 8));
  EXPECT_FALSE(bit_field_fetch(0, 0, 4));
}

}  // namespace
}  // namespace sonde
