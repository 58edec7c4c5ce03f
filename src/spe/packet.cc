#include "spe/packet.h"

namespace sonde::spe {
namespace {

enum Header : uint8_t {
  kPad = 0x00,
  kEnd = 0x01,
  kExtended = 0x20,  // to 0x23: the next byte goes on
  kEvents = 0x42,
  kDataSource = 0x43,
  kOperation = 0x48,  // to 0x4b
  kContext = 0x64,    // to 0x67
  kTimestamp = 0x71,
  kCounter = 0x98,  // to 0x9f
  kAddress = 0xb0,  // to 0xb7
};
constexpr uint8_t kSizeBits = 0x30, kIndexBits = 0x07, kFewIndexBits = 0x03;

uint8_t byte_at(Bytes bytes, size_t i) {
  return std::to_integer<uint8_t>(bytes[i]);
}

/// Address and counter packets, the only ones with indexes of three bits, or five.
bool set_indexed(uint8_t header, unsigned higher_index, Packet& packet) {
  auto kind = static_cast<uint8_t>(header & ~kIndexBits);
  if (kind != kAddress && kind != kCounter) return false;
  packet.type = kind == kAddress ? PacketType::kAddress : PacketType::kCounter;
  packet.index = static_cast<uint8_t>(higher_index << 3 | (header & kIndexBits));
  return true;
}

bool set_type(uint8_t header, Packet& packet) {
  packet.index = header & kFewIndexBits;
  auto is = [&](PacketType type) {
    packet.type = type;
    return true;
  };
  if (header == kTimestamp) return is(PacketType::kTimestamp);
  if ((header & ~kSizeBits) == (kEvents & ~kSizeBits)) return is(PacketType::kEvents);
  if ((header & ~kSizeBits) == (kDataSource & ~kSizeBits)) return is(PacketType::kDataSource);
  if ((header & ~kFewIndexBits) == kContext) return is(PacketType::kContext);
  if ((header & ~kFewIndexBits) == kOperation) return is(PacketType::kOperation);
  return set_indexed(header, 0, packet);
}

/// The payload lies behind a header of that many bytes, whose last one tells its size.
bool take_payload(Bytes trace, size_t at, size_t header_size, Packet& packet) {
  at += header_size;
  size_t size = size_t{1} << ((byte_at(trace, at - 1) & kSizeBits) >> 4);
  packet.size = header_size + size;
  if (size > trace.size() - at) return false;
  for (size_t i = size; i-- > 0;) packet.payload = packet.payload << 8 | byte_at(trace, at + i);
  return true;
}

/// Room up to an aligned address. What fills it is not told.
bool set_alignment(Bytes trace, size_t at, uint8_t first, Packet& packet) {
  size_t alignment = size_t{2} << (first & 0xf);
  packet.size = alignment - at % alignment;  // 1: the header's second byte is padding as well
  return packet.size <= trace.size() - at;
}

}  // namespace

bool read_packet(Bytes trace, size_t at, Packet& packet) {
  packet = {};
  uint8_t header = byte_at(trace, at);
  if (header == kPad) return true;
  if (header == kEnd) {
    packet.type = PacketType::kEnd;
    return true;
  }
  if ((header & ~kFewIndexBits) != kExtended)
    return set_type(header, packet) && take_payload(trace, at, 1, packet);
  if (trace.size() - at < 2) {
    packet.size = 2;
    return false;
  }
  uint8_t second = byte_at(trace, at + 1);
  if (second == kPad) return set_alignment(trace, at, header, packet);
  return set_indexed(second, header & kFewIndexBits, packet) && take_payload(trace, at, 2, packet);
}

}  // namespace sonde::spe
