#include "pt/block_items.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::pt {
namespace {

Bytes bytes_of(const std::vector<uint8_t>& bytes) {
  return std::as_bytes(std::span(bytes));
}

TEST(BlockItems, AreReadByTypeAndNumber) {
  std::vector<uint8_t> packets = {0x02, 0x63, 0x81, 0x04, 1, 0, 0, 0, 0xfc, 2, 0, 0, 0,
                                  0x02, 0x63, 0x10, 0x0c, 1, 2, 3, 4, 5,    6, 7, 8};
  BlockItems items;
  items.read(bytes_of(packets));
  EXPECT_EQ(items.get(BlockType::kRegisters, 0), 1u);
  EXPECT_EQ(items.get(BlockType::kRegisters, 31), 2u);
  EXPECT_EQ(items.get(BlockType::kRegisters, 1), std::nullopt);
  EXPECT_EQ(items.present(BlockType::kRegisters), 0x80000001u);
  EXPECT_EQ(items.get(BlockType::kXmm, 1), 0x0807060504030201u);
  EXPECT_EQ(items.present(BlockType::kBasic), 0u);
  EXPECT_TRUE(items.is_32_bit());
}

TEST(BlockItems, LaterOnesCountAndUnknownTypesDoNot) {
  std::vector<uint8_t> packets = {0x02, 0x63, 0x84, 0x04, 1, 0, 0, 0, 0x04, 2, 0,    0, 0,
                                  0x02, 0x63, 0x9f, 0x04, 3, 0, 0, 0, 0x59, 1, 0x04, 9, 0};
  BlockItems items;
  items.read(bytes_of(packets));
  EXPECT_EQ(items.get(BlockType::kBasic, 0), 2u);
  items.read({});
  EXPECT_EQ(items.present(BlockType::kBasic), 0u);
  EXPECT_FALSE(items.is_32_bit());
}

}  // namespace
}  // namespace sonde::pt
