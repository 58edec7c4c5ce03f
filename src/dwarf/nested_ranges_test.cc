#include "dwarf/nested_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dwarf/source_file.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::pair<uint64_t, int64_t>> flat(std::vector<NestedRange> ranges) {
  std::vector<std::pair<uint64_t, int64_t>> found;
  for (const RangeBoundary& at : flatten(std::move(ranges)))
    found.emplace_back(at.addr, at.id == RangeBoundary::kNone ? -1 : int64_t{at.id});
  return found;
}

TEST(NestedRanges, TheInnermostCounts) {
  EXPECT_THAT(flat({{0x10, 0x50, 0}, {0x18, 0x30, 1}, {0x20, 0x24, 2}}),
              ElementsAre(std::pair(0x10, 0), std::pair(0x18, 1), std::pair(0x20, 2),
                          std::pair(0x24, 1), std::pair(0x30, 0), std::pair(0x50, -1)));
  EXPECT_THAT(flat({}), IsEmpty());
}

TEST(NestedRanges, ThoseThatBeginOrEndTogether) {
  EXPECT_THAT(flat({{0x10, 0x20, 0}, {0x10, 0x20, 1}}),
              ElementsAre(std::pair(0x10, 1), std::pair(0x20, -1)));
  EXPECT_THAT(flat({{0x10, 0x20, 0}, {0x20, 0x30, 1}}),
              ElementsAre(std::pair(0x10, 0), std::pair(0x20, 1), std::pair(0x30, -1)));
}

TEST(NestedRanges, OneThatLeavesItsParentIsCut) {
  EXPECT_THAT(flat({{0x10, 0x20, 0}, {0x18, 0x40, 1}, {0x28, 0x30, 2}}),
              ElementsAre(std::pair(0x10, 0), std::pair(0x18, 1), std::pair(0x20, -1),
                          std::pair(0x28, 2), std::pair(0x30, -1)));
}

TEST(SourceFile, APathIsMadeOfItsParts) {
  EXPECT_EQ((SourceFile{"/build", "lib", "list.h"}).path(), "/build/lib/list.h");
  EXPECT_EQ((SourceFile{"/build", "/usr/include", "list.h"}).path(), "/usr/include/list.h");
  EXPECT_EQ((SourceFile{"/build", "", "/src/a.c"}).path(), "/src/a.c");
  EXPECT_EQ((SourceFile{"", "", "a.c"}).path(), "a.c");
  EXPECT_EQ((SourceFile{"/", "", "a.c"}).path(), "/a.c");
  EXPECT_EQ((SourceFile{"/build", "lib", "sub/list.h"}).last(), "list.h");
}

}  // namespace
}  // namespace sonde
