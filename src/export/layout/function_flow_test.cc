#include "export/layout/function_flow.h"

#include <gmock/gmock.h>

#include "elf/elf_builder.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

/// Functions at 0x1000 (blocks 0, 2, 1 of 16 bytes each) and 0x1030 (two of 8), which are loaded
/// from the file's offset 0.
BasicBlockMap two_functions() {
  ByteBuilder map(ByteOrder::kLittle);
  auto put = [&](std::initializer_list<uint8_t> bytes) {
    for (uint8_t byte : bytes) map.u8(byte);
  };
  put({2, 0});
  map.u64(0x1000);
  put({3, 0, 0, 16, 8, 2, 0, 16, 8, 1, 0, 16, 1});
  put({2, 0});
  map.u64(0x1030);
  put({2, 0, 0, 8, 8, 1, 0, 8, 1});
  ElfBuilder elf;
  elf.section(".llvm_bb_addr_map", 0x6fff4c0a, 0, 0, std::string(as_text(map.view())));
  return *BasicBlockMap::read(*ElfFile::own(elf.build(), "prog"));
}

ProgramFlow flow(const BranchProfile::Object& object) {
  SegmentMap segments;
  segments.add({.offset = FileOffset(0),
                .addr = ElfAddr(0x1000),
                .file_size = 0x1000,
                .memory_size = 0x1000,
                .executable = true});
  return flow_of(object, segments, two_functions());
}

std::vector<std::vector<uint64_t>> edges(const FunctionFlow& function) {
  std::vector<std::vector<uint64_t>> edges;
  for (const FunctionFlow::Edge& edge : function.edges)
    edges.push_back({edge.from, edge.to, edge.count});
  return edges;
}

TEST(FunctionFlow, CountsStretchesAndBranches) {
  // In at the entry five times: through the next block twice, over it three times.
  BranchProfile::Object object{.dso = {},
                               .ranges = {{0, 0x0c, 3}, {0, 0x2c, 2}, {0x20, 0x2c, 3}},
                               .branches = {{0x0c, 0x20, 3}, {0x500, 0, 5}},
                               .taken = 8};
  ProgramFlow found = flow(object);
  ASSERT_THAT(found.functions, SizeIs(1));
  EXPECT_THAT(found.functions[0].counts, ElementsAre(5, 2, 5));
  EXPECT_THAT(edges(found.functions[0]),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(0, 2, 3), ElementsAre(1, 2, 2)));
  EXPECT_EQ(found.unmapped, 5u);
  EXPECT_EQ(found.strayed, 0u);
}

TEST(FunctionFlow, TellsCallsAndReturnsFromWaysBetweenBlocks) {
  // The first function calls the second from its middle and goes on there; once it calls itself,
  // and its last block returns to a call at the end of its first.
  BranchProfile::Object object{
      .dso = {},
      .ranges = {{0x00, 0x14, 4}, {0x30, 0x3c, 4}, {0x19, 0x2f, 4}},
      .branches = {{0x14, 0x30, 4}, {0x3c, 0x19, 4}, {0x24, 0x00, 1}, {0x2f, 0x10, 1}},
      .taken = 10};
  ProgramFlow found = flow(object);
  ASSERT_THAT(found.functions, SizeIs(2));
  EXPECT_THAT(found.functions[0].counts, ElementsAre(4, 5, 4));
  EXPECT_THAT(edges(found.functions[0]), ElementsAre(ElementsAre(0, 1, 5), ElementsAre(1, 2, 4)));
  EXPECT_THAT(found.functions[1].counts, ElementsAre(4, 4));
  ASSERT_THAT(found.calls, SizeIs(1));
  EXPECT_EQ(found.calls[0].from, 0u);
  EXPECT_EQ(found.calls[0].to, 1u);
  EXPECT_EQ(found.calls[0].count, 4u);
}

TEST(FunctionFlow, TakesAReturnToABlocksStartForAWayFromTheBlockInFront) {
  // Once from a function that the map has, once from elsewhere.
  BranchProfile::Object object{.dso = {},
                               .ranges = {{0x10, 0x14, 5}},
                               .branches = {{0x3c, 0x10, 2}, {0x600, 0x10, 3}},
                               .taken = 5};
  ProgramFlow found = flow(object);
  ASSERT_THAT(found.functions, SizeIs(1));
  EXPECT_THAT(found.functions[0].counts, ElementsAre(0, 5, 0));
  EXPECT_THAT(edges(found.functions[0]), ElementsAre(ElementsAre(0, 1, 5)));
}

TEST(FunctionFlow, CountsStretchesThatLeaveTheirFunction) {
  BranchProfile::Object object{.dso = {}, .ranges = {{0x20, 0x38, 7}}, .branches = {}, .taken = 0};
  ProgramFlow found = flow(object);
  EXPECT_EQ(found.strayed, 7u);
  ASSERT_THAT(found.functions, SizeIs(2));
  EXPECT_THAT(edges(found.functions[0]), SizeIs(0));
}

}  // namespace
}  // namespace sonde
