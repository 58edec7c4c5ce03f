#include "base/shell_words.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using Words = std::vector<std::string>;

TEST(CommandWords, AreDividedAtBlanks) {
  EXPECT_EQ(*shell_words("  make  -j8 all ", "--vs"), (Words{"make", "-j8", "all"}));
  EXPECT_EQ(*shell_words("env A=1 ./x", "--vs"), (Words{"env", "A=1", "./x"}));
}

TEST(CommandWords, QuotesKeepThemTogether) {
  EXPECT_EQ(*shell_words(R"(sh -c 'a | b; echo "$x"')", "--vs"),
            (Words{"sh", "-c", R"(a | b; echo "$x")"}));
  EXPECT_EQ(*shell_words(R"(a "b \"c\" \n" d\ e '' "")", "--vs"),
            (Words{"a", R"(b "c" \n)", "d e", "", ""}));
}

TEST(CommandWords, WhatNeedsAShellIsRefused) {
  for (const char* text : {"a | b", "a; b", "echo $HOME", "ls *.c", "a > b", "(a)", "~/x"}) {
    Result<Words> words = shell_words(text, "--vs");
    ASSERT_FALSE(words) << text;
    EXPECT_EQ(words.error().code, ErrorCode::kUsage);
    EXPECT_NE(words.error().message.find("needs a shell"), std::string::npos);
  }
}

TEST(CommandWords, SomethingMustBeThere) {
  EXPECT_FALSE(shell_words("   ", "--vs"));
  EXPECT_FALSE(shell_words("echo 'a", "--vs"));
}

}  // namespace
}  // namespace sonde
