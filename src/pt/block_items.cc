#include "pt/block_items.h"

#include <algorithm>

#include "pt/packet.h"

namespace sonde::pt {

size_t BlockItems::place_of(uint8_t type) {
  using enum BlockType;
  static constexpr std::array<BlockType, kTypes> kPlaces = {
      kRegisters, kBasic, kMemory, kBranches, kMoreBranches, kMostBranches, kXmm};
  auto found = std::ranges::find(kPlaces, static_cast<BlockType>(type));
  return static_cast<size_t>(found - kPlaces.begin());
}

void BlockItems::read(Bytes packets) {
  present_ = {};
  is_32_bit_ = false;
  size_t place = kTypes;
  ItemBlock block;
  Packet packet;
  for (; !packets.empty() && block.read_packet(packets, packet);
       packets = packets.subspan(packet.size)) {
    if (packet.type == PacketType::kBbp) {
      place = place_of(packet.count);
      if (packet.count == static_cast<uint8_t>(BlockType::kRegisters)) is_32_bit_ = packet.flag;
    } else if (packet.type == PacketType::kBip && place < kTypes) {
      present_[place] |= uint32_t{1} << packet.count;
      values_[place][packet.count] = packet.payload;
    }
  }
}

}  // namespace sonde::pt
