#include "base/utf8.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

std::string json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(Utf8, GoodTextStaysAsItIs) {
  for (std::string_view text : {"", "main", "grüße", "関数", "🔥", "\xed\x9f\xbf", "\xee\x80\x80",
                                "\xf4\x8f\xbf\xbf", "\xe0\xa0\x80", "\xf0\x90\x80\x80"})
    EXPECT_EQ(to_utf8(text), text);
}

TEST(Utf8, EachByteOfNoCharacterIsReplaced) {
  const std::string one = "\xef\xbf\xbd";
  EXPECT_EQ(to_utf8("\xff"), one);
  EXPECT_EQ(to_utf8("a\x80z"), "a" + one + "z");
  EXPECT_EQ(to_utf8("\xc0\xaf"), one + one);                      // overlong '/'
  EXPECT_EQ(to_utf8("\xed\xa0\x80"), one + one + one);            // a surrogate
  EXPECT_EQ(to_utf8("\xf4\x90\x80\x80"), one + one + one + one);  // above U+10FFFF
  EXPECT_EQ(to_utf8("ab\xe2\x82"), "ab" + one + one);             // cut off
  EXPECT_EQ(to_utf8("\xe2\x28\xa1"), one + "(" + one);
}

TEST(Utf8, JsonStringsAreValidWhateverGoesIn) {
  EXPECT_EQ(json("main"), "\"main\"");
  EXPECT_EQ(json("a\"b\\c\n\t\x01\x7f"), R"("a\"b\\c\n\t\u0001\u007f")");
  EXPECT_EQ(json(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(json("x\xff\""), "\"x\xef\xbf\xbd\\\"\"");
}

}  // namespace
}  // namespace sonde
