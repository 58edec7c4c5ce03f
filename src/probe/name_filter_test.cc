#include "probe/name_filter.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

bool matches(std::string_view filter, std::string_view name) {
  Result<NameFilter> parsed = NameFilter::parse(filter);
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
  return parsed && parsed->matches(name);
}

TEST(NameFilter, GlobsAndClasses) {
  EXPECT_TRUE(matches("foo*", "foobar"));
  EXPECT_FALSE(matches("foo*", "barfoo"));
  EXPECT_TRUE(matches("[a-c]x?", "bxy"));
  EXPECT_FALSE(matches("[!a-c]x?", "bxy"));
  EXPECT_TRUE(matches("[!(]*", "x"));
}

TEST(NameFilter, OperatorsBindAsInC) {
  EXPECT_TRUE(matches("foo* | bar*", "bar1"));
  EXPECT_TRUE(matches("!foo* & *bar", "fizzbar"));
  EXPECT_FALSE(matches("!foo* & *bar", "foobar"));
  EXPECT_TRUE(matches("a | b & c", "a"));
  EXPECT_FALSE(matches("(a | b) & c", "a"));
  EXPECT_FALSE(matches("!(a|b)", "b"));
  EXPECT_TRUE(matches("!!a", "a"));
}

TEST(NameFilter, NothingMatchesAll) {
  EXPECT_TRUE(NameFilter().matches("anything"));
}

TEST(NameFilter, SaysWhatIsWrong) {
  for (std::string_view text : {"", "a &", "& a", "a b", "(a", "a)", "!", "()"})
    EXPECT_FALSE(NameFilter::parse(text).has_value()) << text;
}

TEST(NameFilter, DeepNestingIsNoProblem) {
  std::string text(100'000, '!');
  EXPECT_TRUE(matches(text + "a", "a"));
}

}  // namespace
}  // namespace sonde
