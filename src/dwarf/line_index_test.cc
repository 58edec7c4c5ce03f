// These tests ask for the lines of their own program.
#include "dwarf/line_index.h"

#include <gtest/gtest.h>
#include <link.h>

#include <cstring>

namespace sonde {
namespace {

volatile int sink;

// clang-format off: the tests know which line each statement is on
constexpr uint32_t kInnerLine = __LINE__ + 1;
[[gnu::always_inline]] inline void inner(int n) { sink = sink + n; }
[[gnu::always_inline]] inline void middle(int n) {
  inner(n + 1);
  inner(n + 2);
}
[[gnu::noinline]] void outer(int n) {
  middle(n);
  sink = 0;
}
// clang-format on

uint64_t load_base() {
  uint64_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uint64_t*>(out) = info->dlpi_addr;  // the program itself comes first
        return 1;
      },
      &base);
  return base;
}

ElfAddr address_of(void (*function)(int)) {
  return ElfAddr(reinterpret_cast<uint64_t>(function) - load_base());
}

TEST(LineIndex, FindsLinesAndInlinedFunctions) {
  LineIndex index = LineIndex::open("/proc/self/exe").value();
  ElfAddr start = address_of(&outer);
  auto line = index.find(start);
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->file.ends_with("line_index_test.cc")) << line->file;
  EXPECT_TRUE(line->line >= kInnerLine && line->line < kInnerLine + 8) << line->line;

  bool seen_inner = false;
  for (uint64_t offset = 0; offset < 64; ++offset) {
    auto frames = index.inline_frames(start + offset);
    if (frames.size() != 3) continue;
    seen_inner = true;
    EXPECT_NE(frames[0].function.find("inner"), std::string_view::npos);
    EXPECT_EQ(frames[0].at.line, kInnerLine);
    EXPECT_TRUE(frames[0].inlined);
    EXPECT_NE(frames[1].function.find("middle"), std::string_view::npos);
    EXPECT_TRUE(frames[1].at.line == kInnerLine + 2 || frames[1].at.line == kInnerLine + 3);
    EXPECT_NE(frames[2].function.find("outer"), std::string_view::npos);
    EXPECT_EQ(frames[2].at.line, kInnerLine + 6);
    EXPECT_FALSE(frames[2].inlined);
    break;
  }
  EXPECT_TRUE(seen_inner);
}

TEST(LineIndex, KnowsNothingOutside) {
  LineIndex index = LineIndex::open("/proc/self/exe").value();
  EXPECT_FALSE(index.find(ElfAddr(1)));
  EXPECT_FALSE(index.find(ElfAddr(UINT64_MAX)));
  EXPECT_TRUE(index.inline_frames(ElfAddr(1)).empty());
}

TEST(LineIndex, SaysWhatIsMissing) {
  EXPECT_EQ(LineIndex::open("/nonexistent").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(LineIndex::open("/proc/self/status").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace sonde
