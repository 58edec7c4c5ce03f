#include <array>
#include <string_view>

#include "spe/packet.h"

namespace sonde::spe {
namespace {

constexpr uint64_t kAddressBits = (uint64_t{1} << 56) - 1;

void append_events(uint64_t events, std::string& out) {
  constexpr std::array<std::string_view, 19> kNames = {"EXCEPTION-GEN",
                                                       "RETIRED",
                                                       "L1D-ACCESS",
                                                       "L1D-REFILL",
                                                       "TLB-ACCESS",
                                                       "TLB-REFILL",
                                                       "NOT-TAKEN",
                                                       "MISPRED",
                                                       "LLC-ACCESS",
                                                       "LLC-REFILL",
                                                       "REMOTE-ACCESS",
                                                       "ALIGNMENT",
                                                       "",
                                                       "",
                                                       "",
                                                       "",
                                                       "",
                                                       "SVE-PARTIAL-PRED",
                                                       "SVE-EMPTY-PRED"};
  out += "EV";
  for (size_t bit = 0; bit < kNames.size(); ++bit)
    if ((events >> bit & 1) != 0 && !kNames[bit].empty()) (out += ' ') += kNames[bit];
}

struct NamedBit {
  uint64_t bit;
  std::string_view name;
};
void append_bits(uint64_t payload, std::initializer_list<NamedBit> names, std::string& out) {
  for (const NamedBit& named : names)
    if ((payload & named.bit) != 0) (out += ' ') += named.name;
}

/// The vector length that an SVE operation had, in bits.
void append_vector_length(uint64_t payload, std::string& out) {
  fmt::format_to(std::back_inserter(out), " EVLEN {}", 32u << (payload >> 4 & 7));
}

void append_other(uint64_t payload, std::string& out) {
  constexpr uint64_t kSveBits = 0x89, kSve = 0x08;
  if ((payload & kSveBits) != kSve) {
    out += (payload & 1) != 0 ? "OTHER COND-SELECT" : "OTHER INSN-OTHER";
    return;
  }
  out += "SVE-OTHER";
  append_vector_length(payload, out);
  append_bits(payload, {{2, "FP"}, {4, "PRED"}}, out);
}

void append_access(uint64_t payload, std::string& out) {
  out += (payload & 1) != 0 ? "ST" : "LD";
  constexpr uint64_t kAtomicBits = 0xe2, kAtomic = 0x02, kSveBits = 0x0a, kSve = 0x08;
  if ((payload & kAtomicBits) == kAtomic)
    append_bits(payload, {{4, "AT"}, {8, "EXCL"}, {0x10, "AR"}}, out);
  if ((payload & kSveBits) == kSve) {
    append_vector_length(payload, out);
    append_bits(payload, {{4, "PRED"}, {0x80, "SG"}}, out);
  }
  switch (payload & 0xfe) {
    case 0x00:
      out += " GP-REG";
      break;
    case 0x04:
      out += " SIMD-FP";
      break;
    case 0x10:
      out += " UNSPEC-REG";
      break;
    case 0x30:
      out += " NV-SYSREG";
      break;
    default:
      break;
  }
}

void append_branch(uint64_t payload, std::string& out) {
  out += 'B';
  append_bits(payload, {{1, "COND"}}, out);
  if ((payload & 0xfe) == 2) out += " IND";
}

void append_operation(const Packet& packet, std::string& out) {
  switch (packet.index) {
    case Packet::kOther:
      return append_other(packet.payload, out);
    case Packet::kLoadOrStore:
      return append_access(packet.payload, out);
    case Packet::kBranch:
      return append_branch(packet.payload, out);
    default:
      fmt::format_to(std::back_inserter(out), "OP-TYPE {:#x} ({})", packet.payload, packet.index);
  }
}

void append_address(const Packet& packet, std::string& out) {
  auto to = std::back_inserter(out);
  uint64_t payload = packet.payload, address = payload & kAddressBits;
  uint64_t non_secure = payload >> 63, level = payload >> 61 & 3;
  switch (packet.index) {
    case Packet::kProgramCounter:
    case Packet::kBranchTarget:
      fmt::format_to(to, "{} {:#x} el{} ns={}",
                     packet.index == Packet::kProgramCounter ? "PC" : "TGT", address, level,
                     non_secure);
      break;
    case Packet::kVirtual:
      fmt::format_to(to, "VA {:#x}", payload);
      break;
    case Packet::kPhysical:  // with the tag of Arm's memory tagging, and whether it was checked
      fmt::format_to(to, "PA {:#x} ns={} ch={} pat={:x}", address, non_secure, payload >> 62 & 1,
                     payload >> 56 & 0xf);
      break;
    default:
      fmt::format_to(to, "ADDR {:#x} ({})", payload, packet.index);
  }
}

std::string_view counter_name(unsigned index) {
  constexpr std::array<std::string_view, 3> kNames = {"TOT", "ISSUE", "XLAT"};
  return index < kNames.size() ? kNames[index] : "";
}

}  // namespace

void append_text(const Packet& packet, std::string& out) {
  auto to = std::back_inserter(out);
  switch (packet.type) {
    case PacketType::kPad:
      out += "PAD";
      break;
    case PacketType::kEnd:
      out += "END";
      break;
    case PacketType::kTimestamp:
      fmt::format_to(to, "TS {}", static_cast<int64_t>(packet.payload));
      break;
    case PacketType::kEvents:
      append_events(packet.payload, out);
      break;
    case PacketType::kDataSource:
      fmt::format_to(to, "DATA-SOURCE {}", static_cast<int64_t>(packet.payload));
      break;
    case PacketType::kContext:
      fmt::format_to(to, "CONTEXT {:#x} el{}", packet.payload, packet.index + 1);
      break;
    case PacketType::kOperation:
      append_operation(packet, out);
      break;
    case PacketType::kAddress:
      append_address(packet, out);
      break;
    case PacketType::kCounter:
      fmt::format_to(to, "LAT {} {}", packet.payload, counter_name(packet.index));
      break;
  }
}

void put_packets(Bytes trace, Sink& out) {
  constexpr size_t kColumns = 16;
  std::string line;
  for (size_t at = 0, size = 0; at < trace.size(); at += size) {
    Packet packet;
    bool is_packet = read_packet(trace, at, packet);
    size = is_packet ? packet.size : 1;
    bool is_padding = is_packet && packet.type == PacketType::kPad;
    while (is_padding && size < kColumns && at + size < trace.size() &&
           trace[at + size] == std::byte{0})
      ++size;
    line.clear();
    auto to = std::back_inserter(line);
    fmt::format_to(to, ".  {:08x}: ", at);
    for (size_t i = 0; i < kColumns; ++i) {
      if (i < size)
        fmt::format_to(to, " {:02x}", std::to_integer<unsigned>(trace[at + i]));
      else
        line += "   ";
    }
    line += ' ';
    is_packet ? append_text(packet, line) : void(line += "Bad packet!");
    line += '\n';
    out.write(line);
  }
}

}  // namespace sonde::spe
