#include "probe/source/sorted_texts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace sonde {
namespace {

void expect_sorted_like_the_library(const std::vector<std::string>& texts) {
  std::vector<std::string_view> ours(texts.begin(), texts.end());
  std::vector<std::string_view> theirs = ours;
  sort_texts(ours);
  std::ranges::sort(theirs);
  EXPECT_EQ(ours, theirs);
}

TEST(SortTexts, OrdersFew) {
  expect_sorted_like_the_library({});
  expect_sorted_like_the_library({"b"});
  expect_sorted_like_the_library({"b", "", "a", "ab", "a"});
}

/// The ends of texts, and what they share, at and around every multiple of eight; bytes above 127.
TEST(SortTexts, OrdersTextsThatBeginAlike) {
  std::mt19937 random(1);
  for (size_t shared = 0; shared < 26; ++shared) {
    std::vector<std::string> texts;
    for (int i = 0; i < 200; ++i) {
      std::string text(shared, 'x');
      for (size_t more = random() % 20; more > 0; --more) text += "a\x01\x7f\x80\xff"[random() % 5];
      texts.push_back(text);
    }
    expect_sorted_like_the_library(texts);
  }
}

}  // namespace
}  // namespace sonde
