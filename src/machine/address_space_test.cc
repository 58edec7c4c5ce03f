#include "machine/address_space.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

RuntimeAddr at(uint64_t address) {
  return RuntimeAddr(address);
}

MappingId find(const AddressSpace& space, uint64_t address, uint64_t time) {
  return space.find(at(address), time).mapping;
}

TEST(AddressSpace, FindsWhatWasMappedWhen) {
  AddressSpace space;
  space.map(10, at(0x1000), at(0x2000), MappingId(size_t{0}));
  space.map(10, at(0x2000), at(0x3000), MappingId(size_t{1}));
  space.map(20, at(0x1800), at(0x2800), MappingId(size_t{2}));
  space.freeze();
  EXPECT_EQ(find(space, 0x1900, 15), MappingId(size_t{0}));
  EXPECT_EQ(find(space, 0x1900, 20), MappingId(size_t{2}));
  EXPECT_EQ(find(space, 0x17ff, 99), MappingId(size_t{0}));
  EXPECT_EQ(find(space, 0x2800, 99), MappingId(size_t{1}));
  EXPECT_EQ(find(space, 0x2000, 19), MappingId(size_t{1}));
}

TEST(AddressSpace, NothingBeforeTheFirstMappingAndOutside) {
  AddressSpace space;
  space.map(10, at(0x1000), at(0x2000), MappingId(size_t{0}));
  space.freeze();
  EXPECT_FALSE(find(space, 0x1000, 9).valid());
  EXPECT_FALSE(find(space, 0xfff, 10).valid());
  EXPECT_FALSE(find(space, 0x2000, 10).valid());
}

TEST(AddressSpace, AnswersTellHowLongTheyHold) {
  AddressSpace space;
  space.map(10, at(0x1000), at(0x2000), MappingId(size_t{0}));
  space.map(30, at(0x1000), at(0x2000), MappingId(size_t{1}));
  space.freeze();
  AddressSpace::Found before = space.find(at(0x1500), 5);
  EXPECT_FALSE(before.mapping.valid());
  EXPECT_EQ(before.valid_to, 10u);
  AddressSpace::Found first = space.find(at(0x1500), 10);
  EXPECT_EQ(first.valid_from, 10u);
  EXPECT_EQ(first.valid_to, 30u);
  EXPECT_EQ(space.find(at(0x1500), 30).valid_to, UINT64_MAX);
}

TEST(AddressSpace, UnmappingLeavesAHole) {
  AddressSpace space;
  space.map(1, at(0x1000), at(0x4000), MappingId(size_t{0}));
  space.unmap(5, at(0x2000), at(0x3000));
  space.freeze();
  EXPECT_EQ(find(space, 0x2500, 4), MappingId(size_t{0}));
  EXPECT_FALSE(find(space, 0x2500, 5).valid());
  EXPECT_EQ(find(space, 0x3500, 5), MappingId(size_t{0}));
}

TEST(AddressSpace, AForkStartsWithWhatTheParentHadThen) {
  AddressSpace parent;
  parent.map(1, at(0x1000), at(0x2000), MappingId(size_t{0}));
  AddressSpace child = parent.current(7);
  parent.map(9, at(0x5000), at(0x6000), MappingId(size_t{1}));
  child.freeze();
  EXPECT_EQ(find(child, 0x1000, 7), MappingId(size_t{0}));
  EXPECT_FALSE(find(child, 0x1000, 6).valid());
  EXPECT_FALSE(find(child, 0x5000, 10).valid());
}

TEST(AddressSpace, PiecesOfOneAddressNeverOverlapInTime) {
  AddressSpace space;
  for (uint64_t i = 0; i < 200; ++i) {
    uint64_t start = (i * 7919) % 64 * 0x100;
    space.map(i, at(start), at(start + 0x100 * (1 + i % 5)), MappingId(static_cast<size_t>(i)));
  }
  space.freeze();
  std::vector<AddressSpace::Piece> pieces = space.pieces();
  for (size_t a = 0; a < pieces.size(); ++a)
    for (size_t b = a + 1; b < pieces.size(); ++b) {
      bool same_addresses = pieces[a].start < pieces[b].end && pieces[b].start < pieces[a].end;
      bool same_time = pieces[a].from < pieces[b].to && pieces[b].from < pieces[a].to;
      EXPECT_FALSE(same_addresses && same_time);
    }
}

}  // namespace
}  // namespace sonde
