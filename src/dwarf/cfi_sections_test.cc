// These tests look up the functions of their own program.
#include "dwarf/cfi_sections.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/file.h"

namespace sonde {
namespace {

std::vector<CfiEntry> entries_of(const CfiSections& sections) {
  std::vector<CfiEntry> entries;
  for (const CfiSection& section : sections.sections())
    entries.insert(entries.end(), section.entries.begin(), section.entries.end());
  return entries;
}

/// That what is found at some addresses is what reading everything finds there.
void expect_same_at_addresses(const ElfFile& elf) {
  CfiSections whole(elf, nullptr);
  std::vector<CfiEntry> all = entries_of(whole);
  ASSERT_GT(all.size(), 100u);
  size_t step = all.size() / 20;
  for (size_t i = 0; i < all.size(); i += step)
    for (uint64_t address : {all[i].start, all[i].end - 1}) {
      CfiSections there(elf, nullptr, address);
      std::vector<CfiEntry> found = entries_of(there);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_EQ(found[0].start, all[i].start);
      EXPECT_EQ(found[0].end, all[i].end);
      EXPECT_EQ(found[0].program.data(), all[i].program.data());
      EXPECT_EQ(found[0].program.size(), all[i].program.size());
    }
  EXPECT_TRUE(entries_of(CfiSections(elf, nullptr, 1)).empty());
  EXPECT_TRUE(entries_of(CfiSections(elf, nullptr, UINT64_MAX)).empty());
}

TEST(CfiSections, FindsWhatReadingEverythingFinds) {
  expect_same_at_addresses(*ElfFile::open("/proc/self/exe"));
}

/// The sorted table is a shortcut, not an authority.
TEST(CfiSections, DoesWithoutAnIntactTable) {
  std::string program = *read_file("/proc/self/exe");
  auto elf = ElfFile::view(as_bytes(program), "test");
  const ElfSection* table = elf->section(".eh_frame_hdr");
  ASSERT_NE(table, nullptr);
  auto at = static_cast<ptrdiff_t>(table->offset);
  auto size = static_cast<ptrdiff_t>(table->size);
  ASSERT_GT(size, 100);
  for (ptrdiff_t from : {0, 8, 12}) {  // all, with the number of rows, and the rows
    std::string damaged = program;
    std::fill(damaged.begin() + at + from, damaged.begin() + at + size, '\x11');
    expect_same_at_addresses(*ElfFile::view(as_bytes(damaged), "test"));
  }
}

}  // namespace
}  // namespace sonde
