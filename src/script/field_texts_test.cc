#include "script/field_texts.h"

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

TEST(FieldTexts, ACpuHasThreeColumns) {
  std::string out;
  for (uint32_t cpu : {0u, 17u, 1024u, UINT32_MAX}) append_cpu(out, cpu);
  EXPECT_EQ(out, "[000] [017] [1024] [-01] ");
}

}  // namespace
}  // namespace sonde::script
