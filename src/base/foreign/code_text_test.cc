#include "base/foreign/code_text.h"

#include <gtest/gtest.h>

#include <array>

namespace sonde {
namespace {

using namespace std::string_literals;

TEST(IdentifierOf, IsOneWhateverTheNameIs) {
  EXPECT_EQ(identifier_of("sched_switch"), "sched_switch");
  EXPECT_EQ(identifier_of("9lives"), "_9lives");
  EXPECT_EQ(identifier_of(""), "_");
  EXPECT_EQ(identifier_of("x(*a):0\rimport os"), "x__a__0_import_os");
  EXPECT_EQ(identifier_of("h\xc3\xa4\xe2\x80\xa8\0"s), "h______");
}

TEST(Identifiers, AreNeitherReservedNorTheSame) {
  constexpr std::array<std::string_view, 2> kReserved = {"from", "a_b_2"};
  Identifiers identifiers(kReserved);
  EXPECT_EQ(identifiers.add("from"), "from_");
  EXPECT_EQ(identifiers.add("a-b"), "a_b");
  EXPECT_EQ(identifiers.add("a b"), "a_b_3");
  EXPECT_EQ(identifiers.add("a_b"), "a_b_4");
  EXPECT_EQ(identifiers.add("from"), "from__2");
}

TEST(Identifiers, OfOneNameAHundredThousandTimesTakeNoTime) {
  Identifiers identifiers;
  constexpr int kMany = 100'000;
  for (int i = 1; i < kMany; ++i) (void)identifiers.add("?");
  EXPECT_EQ(identifiers.add("!"), "__100000");
}

TEST(PythonLiteral, IsOneLineOfAscii) {
  EXPECT_EQ(python_literal("id"), R"("id")");
  EXPECT_EQ(python_literal("a\"b'c\\d"), R"("a\"b'c\\d")");
  EXPECT_EQ(python_literal("\n\r\t\x1b\x7f\0"s), R"("\n\x0d\t\x1b\x7f\x00")");
  EXPECT_EQ(python_literal("\"\"\"\nimport os"), R"("\"\"\"\nimport os")");
  EXPECT_EQ(python_literal("\xe2\x80\xa8\xc2\x85\xf0\x9f\x98\x80"), R"("\u2028\u0085\U0001f600")");
  // Not UTF-8: a lone byte, an overlong form, half a character.
  EXPECT_EQ(python_literal("\xff\xc0\xa2\xe2\x80"), R"("\\xff\\xc0\\xa2\\xe2\\x80")");
}

}  // namespace
}  // namespace sonde
