#include "elf/basic_block_map.h"

#include <gmock/gmock.h>

#include "elf/elf_builder.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr uint32_t kMapType = 0x6fff4c0a, kMapTypeWithoutVersion = 0x6fff4c08;

ElfFile object_with(std::string map, uint32_t type = kMapType, bool is_64bit = true,
                    ByteOrder order = ByteOrder::kLittle) {
  ElfBuilder elf(is_64bit, order);
  elf.section(".llvm_bb_addr_map", type, 0, 0, std::move(map));
  return std::move(*ElfFile::own(elf.build(), "prog"));
}

/// Numbers below 128 are their own LEB128.
std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (int value : values) text.push_back(static_cast<char>(value));
  return text;
}

std::string address(uint64_t value, bool is_64bit = true, ByteOrder order = ByteOrder::kLittle) {
  ByteBuilder out(order);
  if (is_64bit)
    out.u64(value);
  else
    out.u32(static_cast<uint32_t>(value));
  return std::string(as_text(out.view()));
}

std::vector<uint64_t> starts(const BasicBlockMap& map, const BasicBlockMap::Function& function) {
  std::vector<uint64_t> found;
  for (const BasicBlock& block : map.blocks(function)) found.push_back(block.addr.value);
  return found;
}

std::vector<uint32_t> ids(const BasicBlockMap& map, const BasicBlockMap::Function& function) {
  std::vector<uint32_t> found;
  for (const BasicBlock& block : map.blocks(function)) found.push_back(block.id);
  return found;
}

TEST(BasicBlockMap, HasBlocksWithIdsInTheOrderOfTheCode) {
  for (auto [is_64bit, order] :
       {std::pair(true, ByteOrder::kLittle), std::pair(true, ByteOrder::kBig),
        std::pair(false, ByteOrder::kLittle)}) {
    std::string map = bytes({2, 0}) + address(0x1000, is_64bit, order) +
                      bytes({3, 0, 0, 0x16, 8, 2, 2, 0x10, 4, 1, 0, 5, 1});
    ElfFile file = object_with(map, kMapType, is_64bit, order);
    BasicBlockMap read = std::move(*BasicBlockMap::read(file));
    ASSERT_THAT(read.functions(), SizeIs(1));
    EXPECT_EQ(read.functions()[0].entry, ElfAddr(0x1000));
    EXPECT_THAT(starts(read, read.functions()[0]), ElementsAre(0x1000, 0x1018, 0x1028));
    EXPECT_THAT(ids(read, read.functions()[0]), ElementsAre(0, 2, 1));
    EXPECT_TRUE(read.blocks()[1].is_landing_pad);
    EXPECT_FALSE(read.blocks()[1].returns);
    EXPECT_TRUE(read.blocks()[2].returns);
    EXPECT_EQ(read.blocks()[0].size, 0x16u);
  }
}

TEST(BasicBlockMap, HasFunctionsInSeveralRanges) {
  ElfFile file = object_with(bytes({2, 8, 2}) + address(0x1000) + bytes({1, 0, 0, 4, 8}) +
                             address(0x5000) + bytes({2, 3, 0, 4, 8, 1, 0, 4, 1}) + bytes({2, 0}) +
                             address(0x2000) + bytes({1, 0, 0, 9, 1}));
  BasicBlockMap map = std::move(*BasicBlockMap::read(file));
  ASSERT_THAT(map.functions(), SizeIs(2));
  EXPECT_THAT(starts(map, map.functions()[0]), ElementsAre(0x1000, 0x5000, 0x5004));
  EXPECT_THAT(ids(map, map.functions()[0]), ElementsAre(0, 3, 1));
  EXPECT_THAT(starts(map, map.functions()[1]), ElementsAre(0x2000));
}

TEST(BasicBlockMap, SkipsWhatTheCompilerCounted) {
  ElfFile file = object_with(bytes({2, 7}) + address(0x1000) + bytes({2, 0, 0, 4, 8, 1, 0, 4, 1}) +
                             bytes({50, 10, 1, 1, 99, 20, 0}) + bytes({2, 0}) + address(0x2000) +
                             bytes({1, 0, 0, 9, 1}));
  BasicBlockMap map = std::move(*BasicBlockMap::read(file));
  ASSERT_THAT(map.functions(), SizeIs(2));
  EXPECT_EQ(map.functions()[1].entry, ElfAddr(0x2000));
}

TEST(BasicBlockMap, OfOlderVersionsNumbersBlocks) {
  std::string blocks = bytes({2, 0, 4, 8, 6, 4, 1});
  ElfFile relative = object_with(bytes({1, 0}) + address(0x1000) + blocks);
  BasicBlockMap map = std::move(*BasicBlockMap::read(relative));
  EXPECT_THAT(starts(map, map.functions()[0]), ElementsAre(0x1000, 0x100a));
  EXPECT_THAT(ids(map, map.functions()[0]), ElementsAre(0, 1));
  // In the first version offsets were those in the function.
  for (const ElfFile& file : {object_with(bytes({0, 0}) + address(0x1000) + blocks),
                              object_with(address(0x1000) + blocks, kMapTypeWithoutVersion)}) {
    map = std::move(*BasicBlockMap::read(file));
    EXPECT_THAT(starts(map, map.functions()[0]), ElementsAre(0x1000, 0x1006));
  }
}

TEST(BasicBlockMap, LeavesOutDiscardedFunctions) {
  ElfFile file = object_with(bytes({2, 0}) + address(0) + bytes({1, 0, 0, 4, 8}) + bytes({2, 0}) +
                             address(0x2000) + bytes({1, 7, 0, 9, 1}));
  BasicBlockMap map = std::move(*BasicBlockMap::read(file));
  ASSERT_THAT(map.functions(), SizeIs(1));
  EXPECT_THAT(ids(map, map.functions()[0]), ElementsAre(7));
}

TEST(BasicBlockMap, ThatIsMissingOrNewerIsSaid) {
  ElfFile none = std::move(*ElfFile::own(ElfBuilder().build(), "prog"));
  Result<BasicBlockMap> missing = BasicBlockMap::read(none);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("-fbasic-block-address-map"));
  for (const std::string& newer : {bytes({9, 0}), bytes({2, 64})}) {
    ElfFile file = object_with(newer + address(0x1000) + bytes({1, 0, 0, 4, 8}));
    Result<BasicBlockMap> map = BasicBlockMap::read(file);
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code, ErrorCode::kUnsupported);
  }
}

TEST(BasicBlockMap, ThatIsCutIsDamaged) {
  std::string whole = bytes({2, 8, 2}) + address(0x1000) + bytes({1, 0, 0, 4, 8}) +
                      address(0x5000) + bytes({2, 3, 0, 4, 8, 1, 0, 4, 1});
  ASSERT_TRUE(BasicBlockMap::read(object_with(whole)));
  for (size_t size = 1; size < whole.size(); ++size) {
    Result<BasicBlockMap> map = BasicBlockMap::read(object_with(whole.substr(0, size)));
    ASSERT_FALSE(map) << size;
    EXPECT_EQ(map.error().code, ErrorCode::kCorrupt);
  }
}

TEST(BasicBlockMap, ThatPromisesTooMuchIsDamaged) {
  std::string many = bytes({0xff, 0xff, 0xff, 0xff, 0x7f});
  for (const std::string& map :
       {bytes({2, 0}) + address(0x1000) + many, bytes({2, 8}) + many + address(0x1000),
        bytes({2, 0}) + address(~uint64_t{0}) + bytes({1, 0, 1, 4, 8}),
        bytes({2, 7}) + address(0x1000) + bytes({1, 0, 0, 4, 8, 0, 0}) + many}) {
    Result<BasicBlockMap> read = BasicBlockMap::read(object_with(map));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace sonde
