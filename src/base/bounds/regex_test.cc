#include "base/bounds/regex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string repeated(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Regex, FindsWhatItShould) {
  Result<Regex> regex = Regex::compile("^sys_(read|write)(64)?$");
  ASSERT_TRUE(regex);
  EXPECT_TRUE(regex->matches("sys_read"));
  EXPECT_TRUE(regex->matches("sys_write64"));
  EXPECT_FALSE(regex->matches("my_sys_read"));
  Result<Regex> piece = Regex::compile("B+", Regex::Letters::kIgnoreCase);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->find("abbc"), std::pair(size_t{1}, size_t{3}));
  EXPECT_EQ(piece->find("abbc", 2), std::pair(size_t{2}, size_t{3}));
  EXPECT_FALSE(piece->find("abbc", 3));
}

TEST(Regex, QuotesAPatternThatIsWrong) {
  Result<Regex> regex = Regex::compile("a(b");
  ASSERT_FALSE(regex);
  EXPECT_EQ(regex.error().code, ErrorCode::kUsage);
  EXPECT_THAT(regex.error().message, HasSubstr("'a(b': "));
}

// Each of these takes glibc's regcomp seconds and gigabytes, or the stack.
TEST(Regex, RefusesWhatLibcCannotBear) {
  std::string doubled = "x";
  for (int i = 0; i < 40; ++i) doubled = "(" + doubled + "+)";
  const std::string patterns[] = {
      repeated("(", 50'000) + "x" + repeated(")", 50'000),
      repeated("(", 5000) + "x" + repeated(")", 5000),
      repeated("(a|", 2000) + repeated(")", 2000),
      "((((a{1,100}){1,100}){1,100}){1,100}){1,100}",
      "a{255}{255}{255}",
      "(a{0,200}){0,200}",
      "(.{1000}){1000}",
      "(a?){32767}",
      "a{,32767}",
      "(a|b){20000,}",
      "([]a]{999}[[:alpha:]]){999}",
      "a{99999999999999999999}",
      doubled,
      "x" + repeated("+", 40),
      repeated("a|", 100'000),
      repeated("a?", 5000),
      repeated("(^|a)?", 100),
      R"((\b|^|$|a){50})",
      R"((\b|^|$|a)?)" + repeated(R"(\<x?)", 100),
      repeated("long_name|", 5000),
      R"((.*)(.*)(.*)\3\2\1x)",
      R"(\(\)\1)",
  };
  for (const std::string& pattern : patterns) {
    Result<Regex> regex = Regex::compile(pattern);
    ASSERT_FALSE(regex) << pattern.substr(0, 80);
    EXPECT_EQ(regex.error().code, ErrorCode::kUsage);
    EXPECT_THAT(regex.error().message, Not(HasSubstr("\n")));
    EXPECT_LT(regex.error().message.size(), 200u);
  }
}

TEST(Regex, TakesWhatPeopleWrite) {
  const std::string patterns[] = {
      "^sys_|^do_page_fault",
      "(read|write){1,3}",
      "[[:alnum:]_]{1,64}\\.(c|h)$",
      "[]x-]+[^]]*",
      "a{0}b{2,}c{,3}",
      repeated("some_function_of_a_program|", 300) + "x",
      repeated("(", 90) + "x" + repeated(")", 90),
      repeated("^sys_call$|", 300) + "^sys_last$",
      R"(\bread\b|\bwrite\b|(^|_)lock(_|$))",
      "GenuineIntel-6-(9[6C]|A[AC]|B[67E])",
  };
  for (const std::string& pattern : patterns) {
    EXPECT_EQ(Regex::too_costly(pattern), "");
    Result<Regex> regex = Regex::compile(pattern);
    EXPECT_TRUE(regex) << regex.error().message;
  }
}

}  // namespace
}  // namespace sonde
