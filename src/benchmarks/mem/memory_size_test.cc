#include "benchmarks/mem/memory_size.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(MemorySize, Units) {
  EXPECT_EQ(parse_memory_size("512"), 512u);
  EXPECT_EQ(parse_memory_size("7B"), 7u);
  EXPECT_EQ(parse_memory_size("1KB"), 1024u);
  EXPECT_EQ(parse_memory_size("1k"), 1024u);
  EXPECT_EQ(parse_memory_size("3mb"), size_t{3} << 20);
  EXPECT_EQ(parse_memory_size("2GB"), size_t{2} << 30);
  EXPECT_EQ(parse_memory_size("1T"), size_t{1} << 40);
}

TEST(MemorySize, Refused) {
  for (const char* text : {"", "MB", "1XB", "1BB", "-1", "1MBs", "99999999999TB", "0x10"})
    EXPECT_EQ(parse_memory_size(text), std::nullopt) << text;
}

}  // namespace
}  // namespace sonde
