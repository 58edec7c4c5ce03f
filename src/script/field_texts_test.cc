#include "script/field_texts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sonde::script {
namespace {

std::string time_text(uint64_t ns, bool nanoseconds) {
  std::string out;
  append_time(out, ns, nanoseconds);
  return out;
}

TEST(FieldTexts, TimesHaveMicrosecondsOrNanoseconds) {
  EXPECT_EQ(time_text(1951'702'760'999, false), " 1951.702760: ");
  EXPECT_EQ(time_text(1951'702'760'999, true), " 1951.702760999: ");
  EXPECT_EQ(time_text(0, false), "    0.000000: ");
  EXPECT_EQ(time_text(123'456'000'000'001, true), "123456.000000001: ");
  EXPECT_EQ(time_text(UINT64_MAX, true), "18446744073.709551615: ");
}

TEST(FieldTexts, AddressesHaveSixteenColumns) {
  for (uint64_t value : {uint64_t{0}, uint64_t{9}, uint64_t{0xa0}, uint64_t{0x12345678},
                         uint64_t{0x9abcdef01}, uint64_t{0x7fffffff0000}, UINT64_MAX}) {
    std::string out;
    append_hex16(out, value);
    EXPECT_EQ(out, fmt::format("{:16x}", value));
  }
}

TEST(FieldTexts, ACpuHasThreeColumns) {
  std::string out;
  for (uint32_t cpu : {0u, 17u, 1024u, UINT32_MAX}) append_cpu(out, cpu);
  EXPECT_EQ(out, "[000] [017] [1024] [-01] ");
}

}  // namespace
}  // namespace sonde::script
