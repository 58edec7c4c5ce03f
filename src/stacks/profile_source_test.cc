#include "stacks/profile_source.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(ProfileSource, ContentSaysWhatAFileIs) {
  EXPECT_EQ(format_of("PERFILE2"), ProfileFormat::kRecording);
  EXPECT_EQ(format_of("\x28\xb5\x2f\xfd"), ProfileFormat::kRecording);
  EXPECT_EQ(format_of("\x1f\x8b\x08"), ProfileFormat::kGzip);
  EXPECT_EQ(format_of("main;read 3\n"), ProfileFormat::kFolded);
  EXPECT_EQ(format_of(" {\"shared\":{}}"), ProfileFormat::kSpeedscope);
  EXPECT_EQ(format_of("cc1 12 [001] 1.000000: 7 cycles:\n"), ProfileFormat::kScriptText);
  EXPECT_EQ(format_of(std::string_view("\x7f"
                                       "ELF\2\1\1\0",
                                       8)),
            ProfileFormat::kUnknown);
  EXPECT_EQ(format_of(std::string_view("\x0a\4\x08\1\x10\2\x32\0", 8)), ProfileFormat::kPprof);
}

TEST(ProfileSource, NamesInTextMayHoldControlCharacters) {
  EXPECT_EQ(format_of("a\x01\x1b;main 3\n"), ProfileFormat::kFolded);
  EXPECT_EQ(format_of("a\x01 12 [001] 1.000000: 7 cycles:\n"), ProfileFormat::kScriptText);
}

}  // namespace
}  // namespace sonde
