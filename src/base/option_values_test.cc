#include "base/option_values.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace sonde {
namespace {

using Numbers = std::vector<uint32_t>;
using Words = std::vector<std::string>;

TEST(OptionValues, ListsOfNumbersAndRangesAppend) {
  Numbers list = {9};
  ASSERT_TRUE(numbers_into(list)("0,2-5"));
  EXPECT_EQ(list, (Numbers{9, 0, 2, 3, 4, 5}));
  for (const char* text : {"", "a", "1,", "5-2", "1-", "4294967296", "0-4294967295"}) {
    Result<> parsed = numbers_into(list)(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kUsage);
  }
}

TEST(OptionValues, WordsMayBeInAFile) {
  std::string path = testing::TempDir() + "words-" + std::to_string(::getpid());
  std::ofstream(path) << "# names\n main \n\nstart\n";
  Words list;
  ASSERT_TRUE(words_into(list)("a,,file://" + path + ",b"));
  ::unlink(path.c_str());
  EXPECT_EQ(list, (Words{"a", "main", "start", "b"}));
  EXPECT_FALSE(words_into(list)("file://" + path));
}

TEST(OptionValues, PercentagesHaveASignOrNone) {
  EXPECT_EQ(*parse_percent("0.5"), 0.5);
  EXPECT_EQ(*parse_percent("50%"), 50);
  for (const char* text : {"", "%", "x", "1x", "-1", "nan"})
    EXPECT_FALSE(parse_percent(text)) << text;
}

TEST(OptionValues, TimesHaveAUnitOrTheUsualOne) {
  EXPECT_EQ(*parse_time_ns("7", 1'000'000), 7'000'000u);
  EXPECT_EQ(*parse_time_ns("20us", 1), 20'000u);
  EXPECT_EQ(*parse_time_ns("3s", 1), 3'000'000'000u);
  EXPECT_EQ(*parse_time_ns("0ns", 5), 0u);
  for (const char* text : {"", "ms", "5x", "1.5ms", "-1", "1 ms", "99999999999s", "1m"})
    EXPECT_FALSE(parse_time_ns(text, 1)) << text;
}

TEST(OptionValues, NumbersAreWholeWords) {
  EXPECT_EQ(*number_from<int>("-7"), -7);
  EXPECT_EQ(*number_from<uint64_t>("+7"), 7u);
  for (const char* text : {"", "7x", "x", "-7", "99999999999999999999"})
    EXPECT_FALSE(number_from<uint64_t>(text)) << text;
}

}  // namespace
}  // namespace sonde
