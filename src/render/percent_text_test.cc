#include "render/percent_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace sonde::render {
namespace {

TEST(PercentText, IsThatOfPrintf) {
  std::mt19937_64 random(3);
  auto check = [](double percent, size_t width) {
    std::string text;
    append_percent(text, percent, width);
    ASSERT_EQ(text, fmt::format("{:{}.2f}", percent, width)) << percent;
  };
  for (double percent : {0.0, 0.001, 0.005, 0.015, 1.005, 2.675, 9.995, 99.995, 99.999, 100.0, 1e5,
                         1e6, 1e18, 0.125, 0.375})
    for (size_t width : {0U, 1U, 6U, 30U}) check(percent, width);
  for (int i = 0; i < 100000; ++i) {
    auto part = random() % 1'000'000;
    auto whole = random() % 1'000'000 + 1;
    check(100.0 * static_cast<double>(part) / static_cast<double>(whole), 6);
  }
}

}  // namespace
}  // namespace sonde::render
