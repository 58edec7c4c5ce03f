// These tests look up the lines of their own program.
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
  LineIndex index = LineIndex::open("/proc/self/exe", {}).value();
  ElfAddr start = address_of(&outer);
  auto line = index.find(start);
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->file.path().ends_with("line_index_test.cc")) << line->file.path();
  EXPECT_TRUE(line->line >= kInnerLine && line->line < kInnerLine + 8) << line->line;

  bool seen_inner = false;
  for (uint64_t offset = 0; offset < 256; ++offset) {  // past what sanitizers insert first
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

TEST(LineIndex, WhatWasPackedNeedsNoFile) {
  LineIndex index = LineIndex::open("/proc/self/exe", {}).value();
  ElfAddr start = address_of(&outer);
  EXPECT_FALSE(index.pack(1));  // nothing was read
  auto frames = index.inline_frames(start);
  auto bytes = index.pack(1);
  ASSERT_TRUE(bytes);
  EXPECT_FALSE(index.pack(1));  // nothing new
  int opened = 0;
  auto open_it = [&opened] {
    ++opened;
    return ElfFile::open("/proc/self/exe");
  };
  auto restored = LineIndex::restore(*bytes, open_it, {});
  ASSERT_TRUE(restored);
  auto same = restored->inline_frames(start);
  ASSERT_EQ(same.size(), frames.size());
  for (size_t i = 0; i < same.size(); ++i) {
    EXPECT_EQ(same[i].function, frames[i].function);
    EXPECT_EQ(same[i].at.file, frames[i].at.file);
    EXPECT_EQ(same[i].at.line, frames[i].at.line);
  }
  EXPECT_EQ(opened, 0);
  EXPECT_FALSE(restored->pack(1));
  // Units that were not packed are read from the file.
  size_t found = 0;
  for (uint64_t offset = 0; offset < 4096; offset += 16)
    found += restored->find(start + offset).has_value();
  EXPECT_GT(found, 0u);
}

/// Any byte of it may be wrong.
TEST(LineIndex, PackedBytesAreNotTrusted) {
  LineIndex index = LineIndex::open("/proc/self/exe", {}).value();
  ElfAddr start = address_of(&outer);
  (void)index.inline_frames(start);
  std::vector<std::byte> whole = index.pack(1).value();
  auto no_file = []() -> Result<ElfFile> { return fail(ErrorCode::kNotFound, "gone"); };
  auto ask = [&](Bytes bytes) {
    auto restored = LineIndex::restore(bytes, no_file, {});
    if (!restored) return;
    for (uint64_t offset = 0; offset < 64; offset += 4)
      for (const InlineFrame& frame : restored->inline_frames(start + offset))
        (void)frame.at.file.path();
  };
  for (size_t i = 0; i < whole.size(); i += 1 + whole.size() / 4000) {
    std::vector<std::byte> bad = whole;
    bad[i] ^= std::byte{0x55};
    ask(bad);
    bad[i] = std::byte{0xff};
    ask(bad);
    bad.resize(i);
    ask(bad);
  }
}

TEST(LineIndex, KnowsNothingOutside) {
  LineIndex index = LineIndex::open("/proc/self/exe", {}).value();
  EXPECT_FALSE(index.find(ElfAddr(1)));
  EXPECT_FALSE(index.find(ElfAddr(UINT64_MAX)));
  EXPECT_TRUE(index.inline_frames(ElfAddr(1)).empty());
}

TEST(LineIndex, SaysWhatIsMissing) {
  EXPECT_EQ(LineIndex::open("/nonexistent", {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(LineIndex::open("/proc/self/status", {}).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace sonde
