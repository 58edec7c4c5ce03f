#include "pt/packet.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace sonde::pt {
namespace {

constexpr size_t kPsbSize = 16;

uint8_t byte_at(Bytes bytes, size_t i) {
  return std::to_integer<uint8_t>(bytes[i]);
}

/// A little-endian number of `size` bytes, 8 at most.
uint64_t number(Bytes bytes, size_t from, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value |= uint64_t{byte_at(bytes, from + i)} << (8 * i);
  return value;
}

/// Sets type and size if there are that many bytes.
bool take(Bytes bytes, PacketType type, size_t size, Packet& packet) {
  if (bytes.size() < size) return false;
  packet.type = type;
  packet.size = static_cast<uint8_t>(size);
  return true;
}

/// `bits` has a 1 above the highest branch.
bool set_branches(uint64_t bits, Packet& packet) {
  if (bits < 2) return false;
  packet.count = static_cast<uint8_t>(std::bit_width(bits) - 1);
  packet.payload = bits & ~(uint64_t{1} << packet.count);
  return true;
}

bool is_psb(Bytes bytes) {
  if (bytes.size() < kPsbSize) return false;
  for (size_t i = 0; i < kPsbSize; i += 2)
    if (byte_at(bytes, i) != 0x02 || byte_at(bytes, i + 1) != 0x82) return false;
  return true;
}

bool read_ptwrite(Bytes bytes, uint8_t opcode, Packet& packet) {
  constexpr std::array<uint8_t, 4> kSizes = {4, 8, 0, 0};
  uint8_t size = kSizes[(opcode >> 5) & 3];
  if (size == 0 || !take(bytes, PacketType::kPtWrite, 2u + size, packet)) return false;
  packet.count = size;
  packet.flag = (opcode & 0x80) != 0;
  packet.payload = number(bytes, 2, size);
  return true;
}

/// CFE and EVD, which tell of interrupts and the like.
bool set_event_type(Bytes bytes, uint8_t mask, Packet& packet) {
  packet.count = byte_at(bytes, 2) & mask;
  packet.flag = (byte_at(bytes, 2) & 0x80) != 0;
  return true;
}

/// Packets whose first byte is 2.
bool read_extended(Bytes bytes, Packet& packet) {
  if (bytes.size() < 2) return false;
  uint8_t opcode = byte_at(bytes, 1);
  auto with_number = [&](PacketType type, size_t from, size_t count, size_t size) {
    if (!take(bytes, type, size, packet)) return false;
    packet.payload = number(bytes, from, count);
    return true;
  };
  switch (opcode) {
    case 0x82:
      return is_psb(bytes) && take(bytes, PacketType::kPsb, kPsbSize, packet);
    case 0x23:
      return take(bytes, PacketType::kPsbEnd, 2, packet);
    case 0xf3:
      return take(bytes, PacketType::kOvf, 2, packet);
    case 0x83:
      return take(bytes, PacketType::kTraceStop, 2, packet);
    case 0x03:
      return with_number(PacketType::kCbr, 2, 2, 4);
    case 0x43:
      if (!with_number(PacketType::kPip, 2, 6, 8)) return false;
      packet.flag = (packet.payload & 1) != 0;
      packet.payload >>= 1;
      return true;
    case 0xa3:
      return take(bytes, PacketType::kTnt, 8, packet) && set_branches(number(bytes, 2, 6), packet);
    case 0xc8:
      return with_number(PacketType::kVmcs, 2, 5, 7);
    case 0xc3:
      return bytes.size() > 2 && byte_at(bytes, 2) == 0x88 &&
             with_number(PacketType::kMnt, 3, 8, 11);
    case 0x73:
      if (!with_number(PacketType::kTma, 2, 2, 7)) return false;
      packet.payload2 = number(bytes, 5, 2) & 0x1ff;
      return true;
    case 0xc2:
      if (!with_number(PacketType::kMwait, 2, 4, 10)) return false;
      packet.payload2 = number(bytes, 6, 4);
      return true;
    case 0x22:
      return with_number(PacketType::kPwre, 2, 2, 4);
    case 0x13:
      return with_number(PacketType::kCfe, 3, 1, 4) && set_event_type(bytes, 0x1f, packet);
    case 0x53:
      return with_number(PacketType::kEvd, 3, 8, 11) && set_event_type(bytes, 0x3f, packet);
    case 0xa2:
      return with_number(PacketType::kPwrx, 2, 5, 7);
    case 0x62:
    case 0xe2:
      packet.flag = opcode == 0xe2;
      return take(bytes, PacketType::kExStop, 2, packet);
    default:
      return (opcode & 0x1f) == 0x12 && read_ptwrite(bytes, opcode, packet);
  }
}

bool read_address(Bytes bytes, PacketType type, Packet& packet) {
  constexpr std::array<uint8_t, 8> kSizes = {0, 2, 4, 6, 6, 0xff, 8, 0xff};
  uint8_t size = kSizes[byte_at(bytes, 0) >> 5];
  if (size == 0xff || !take(bytes, type, 1u + size, packet)) return false;
  packet.count = size;
  packet.payload = number(bytes, 1, size);
  return true;
}

bool read_mode(Bytes bytes, Packet& packet) {
  if (!take(bytes, PacketType::kModeExec, 2, packet)) return false;
  uint8_t mode = byte_at(bytes, 1);
  packet.payload = mode & 0x1f;
  if (mode >> 5 == 1) packet.type = PacketType::kModeTsx;
  return mode >> 5 <= 1;
}

/// Five bits, then seven more in each byte for as long as the lowest bit says so.
bool read_cyc(Bytes bytes, Packet& packet) {
  constexpr size_t kMost = 10;
  uint8_t first = byte_at(bytes, 0);
  packet.payload = first >> 3;
  size_t size = 1;
  unsigned shift = 5;
  for (bool more = (first & 4) != 0; more; ++size, shift += 7) {
    if (size == kMost || size == bytes.size()) return false;
    uint8_t next = byte_at(bytes, size);
    if (shift < 64) packet.payload |= uint64_t{next} >> 1 << shift;
    more = (next & 1) != 0;
  }
  return take(bytes, PacketType::kCyc, size, packet);
}

std::string_view name_of(PacketType type) {
  constexpr std::array<std::string_view, 30> kNames = {
      "PAD",      "TNT",       "TIP",    "TIP.PGE", "TIP.PGD", "FUP",    "PIP",   "MODE.Exec",
      "MODE.TSX", "TraceSTOP", "CBR",    "TSC",     "MTC",     "TMA",    "CYC",   "VMCS",
      "OVF",      "PSB",       "PSBEND", "MNT",     "PTWRITE", "EXSTOP", "MWAIT", "PWRE",
      "PWRX",     "CFE",       "EVD",    "BBP",     "BIP",     "BEP"};
  return kNames[static_cast<size_t>(type)];
}

}  // namespace

bool read_packet(Bytes bytes, Packet& packet) {
  packet = {};
  if (bytes.empty()) return false;
  uint8_t first = byte_at(bytes, 0);
  if (first == 0) return true;
  if (first == 2) return read_extended(bytes, packet);
  if ((first & 1) == 0)
    return take(bytes, PacketType::kTnt, 1, packet) && set_branches(first >> 1, packet);
  if (first == 0x99) return read_mode(bytes, packet);
  if (first == 0x19) {
    if (!take(bytes, PacketType::kTsc, 8, packet)) return false;
    packet.payload = number(bytes, 1, 7);
    return true;
  }
  if (first == 0x59) {
    if (!take(bytes, PacketType::kMtc, 2, packet)) return false;
    packet.payload = byte_at(bytes, 1);
    return true;
  }
  if ((first & 3) == 3) return read_cyc(bytes, packet);
  switch (first & 0x1f) {
    case 0x0d:
      return read_address(bytes, PacketType::kTip, packet);
    case 0x11:
      return read_address(bytes, PacketType::kTipPge, packet);
    case 0x01:
      return read_address(bytes, PacketType::kTipPgd, packet);
    case 0x1d:
      return read_address(bytes, PacketType::kFup, packet);
    default:
      return false;
  }
}

namespace {

/// Whether a block goes on behind such a packet.
bool is_within_block(PacketType type) {
  switch (type) {
    case PacketType::kPad:
    case PacketType::kFup:
    case PacketType::kCbr:
    case PacketType::kTsc:
    case PacketType::kMtc:
    case PacketType::kTma:
    case PacketType::kCyc:
    case PacketType::kMnt:
    case PacketType::kExStop:
    case PacketType::kPwre:
    case PacketType::kPwrx:
      return true;
    default:
      return false;
  }
}

/// BBP and BEP.
bool read_block_end(Bytes bytes, Packet& packet) {
  if (bytes.size() < 2 || byte_at(bytes, 0) != 2) return false;
  uint8_t opcode = byte_at(bytes, 1);
  if (opcode == 0x33 || opcode == 0xb3) {
    packet.flag = opcode == 0xb3;
    return take(bytes, PacketType::kBep, 2, packet);
  }
  if (opcode != 0x63 || !take(bytes, PacketType::kBbp, 3, packet)) return false;
  packet.count = byte_at(bytes, 2) & 0x1f;
  packet.flag = (byte_at(bytes, 2) & 0x80) != 0;
  return true;
}

}  // namespace

bool ItemBlock::read_packet(Bytes bytes, Packet& packet) {
  constexpr uint8_t kItemMask = 7, kItem = 4;
  packet = {};
  if (bytes.empty()) return false;
  uint8_t first = byte_at(bytes, 0);
  if (item_size_ > 0 && (first & kItemMask) == kItem) {
    if (!take(bytes, PacketType::kBip, 1 + item_size_, packet)) return false;
    packet.count = first >> 3;
    packet.payload = number(bytes, 1, item_size_);
    return true;
  }
  if (read_block_end(bytes, packet)) {
    bool begins = packet.type == PacketType::kBbp;
    item_size_ = !begins ? 0 : packet.flag ? 4 : 8;
    return true;
  }
  if (!pt::read_packet(bytes, packet)) return false;
  if (!is_within_block(packet.type)) item_size_ = 0;
  return true;
}

size_t find_psb(Bytes bytes, size_t from) {
  static constexpr char kPsb[] = "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82";
  if (from >= bytes.size()) return bytes.size();
  const void* found = ::memmem(bytes.data() + from, bytes.size() - from, kPsb, kPsbSize);
  if (found == nullptr) return bytes.size();
  return static_cast<size_t>(static_cast<const std::byte*>(found) - bytes.data());
}

void append_text(const Packet& packet, std::string& out) {
  auto to = std::back_inserter(out);
  std::string_view name = name_of(packet.type);
  uint64_t payload = packet.payload;
  switch (packet.type) {
    case PacketType::kTnt:
      out += "TNT ";
      for (unsigned i = packet.count; i-- > 0;) out += (payload >> i & 1) != 0 ? 'T' : 'N';
      fmt::format_to(to, " ({})", packet.count);
      break;
    case PacketType::kTip:
    case PacketType::kTipPge:
    case PacketType::kTipPgd:
    case PacketType::kFup:
      if (packet.count == 0)
        fmt::format_to(to, "{} no ip", name);
      else
        fmt::format_to(to, "{} {:#x}", name, payload);
      break;
    case PacketType::kPip:
      fmt::format_to(to, "PIP {:#x} (NR={:d})", payload, packet.flag);
      break;
    case PacketType::kModeExec: {
      unsigned width = (payload & 1) != 0 ? 64 : (payload & 2) != 0 ? 32 : 16;
      fmt::format_to(to, "MODE.Exec IF:{} {}", payload >> 2 & 1, width);
      break;
    }
    case PacketType::kModeTsx:
      fmt::format_to(to, "MODE.TSX TXAbort:{} InTX:{}", payload >> 1 & 1, payload & 1);
      break;
    case PacketType::kTma:
      fmt::format_to(to, "TMA CTC {:#x} FC {:#x}", payload, packet.payload2);
      break;
    case PacketType::kPtWrite:
      fmt::format_to(to, "PTWRITE {:#x} IP:{:d}", payload, packet.flag);
      break;
    case PacketType::kExStop:
      fmt::format_to(to, "EXSTOP IP:{:d}", packet.flag);
      break;
    case PacketType::kMwait:
      fmt::format_to(to, "MWAIT {:#x} Hints {:#x} Extensions {:#x}",
                     payload | packet.payload2 << 32, payload & 0xff, packet.payload2 & 3);
      break;
    case PacketType::kPwre:
      fmt::format_to(to, "PWRE {:#x} HW:{} CState:{} Sub-CState:{}", payload, payload >> 7 & 1,
                     payload >> 12 & 15, payload >> 8 & 15);
      break;
    case PacketType::kPwrx:
      fmt::format_to(to, "PWRX {:#x} Last CState:{} Deepest CState:{} Wake Reason {:#x}", payload,
                     payload >> 4 & 15, payload & 15, payload >> 8 & 15);
      break;
    case PacketType::kCfe:
      fmt::format_to(to, "CFE IP:{:d} Type {:#04x} Vector {:#x}", packet.flag, packet.count,
                     payload);
      break;
    case PacketType::kEvd:
      fmt::format_to(to, "EVD Type {:#04x} Payload {:#x}", packet.count, payload);
      break;
    case PacketType::kBbp:
      fmt::format_to(to, "BBP SZ {}-byte Type {:#x}", packet.flag ? 4 : 8, packet.count);
      break;
    case PacketType::kBip:
      fmt::format_to(to, "BIP ID {:#04x} Value {:#x}", packet.count, payload);
      break;
    case PacketType::kBep:
      fmt::format_to(to, "BEP IP:{:d}", packet.flag);
      break;
    case PacketType::kPad:
    case PacketType::kOvf:
    case PacketType::kPsb:
    case PacketType::kPsbEnd:
    case PacketType::kTraceStop:
      out += name;
      break;
    default:
      fmt::format_to(to, "{} {:#x}", name, payload);
  }
}

size_t append_packet_line(Bytes bytes, size_t at, uint64_t offset, ItemBlock& block,
                          std::string& line) {
  constexpr size_t kColumn = 8;  // padding that follows a shorter packet is shown on its line
  Packet packet;
  bool is_packet = block.read_packet(bytes.subspan(at), packet);
  size_t size = is_packet ? packet.size : 1;
  while (is_packet && size < kColumn && at + size < bytes.size() &&
         bytes[at + size] == std::byte{0})
    ++size;
  fmt::format_to(std::back_inserter(line), "{:08x}: ", offset);
  for (size_t i = 0; i < kPsbSize; ++i) {
    if (i < size)
      fmt::format_to(std::back_inserter(line), " {:02x}", byte_at(bytes, at + i));
    else
      line += "   ";
  }
  line += ' ';
  if (is_packet)
    append_text(packet, line);
  else
    line += "Bad packet!";
  line += '\n';
  return size;
}

void put_packets(Bytes bytes, Sink& out) {
  std::string line;
  ItemBlock block;
  for (size_t at = 0; at < bytes.size();) {
    line = ".  ";
    at += append_packet_line(bytes, at, at, block, line);
    out.write(line);
  }
}

}  // namespace sonde::pt
