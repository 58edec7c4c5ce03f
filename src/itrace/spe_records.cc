#include "itrace/spe_records.h"

#include <algorithm>

namespace sonde::itrace {
namespace {

constexpr uint64_t kAddressBits = (uint64_t{1} << 56) - 1, kTopByte = uint64_t{0xff} << 56;

/// The top byte of a code address says in which security state and exception level it is.
uint64_t code_address(uint64_t payload) {
  unsigned level = payload >> 61 & 3;
  bool is_non_secure = payload >> 63 != 0;
  bool is_kernel = is_non_secure && (level == 1 || level == 2);
  return is_kernel ? payload | kTopByte : payload & kAddressBits;
}

/// That of a data address is the pointer's tag; Documentation/arch/arm64/memory.rst tells which
/// addresses are the kernel's.
uint64_t data_address(uint64_t payload) {
  bool is_kernel = (payload >> 52 & 0xf) == 0xf;
  return is_kernel ? payload | kTopByte : payload & kAddressBits;
}

void take_address(unsigned index, uint64_t payload, SpeRecord& record) {
  switch (index) {
    case spe::Packet::kProgramCounter:
      record.ip = code_address(payload);
      break;
    case spe::Packet::kBranchTarget:
      record.target = code_address(payload);
      break;
    case spe::Packet::kVirtual:
      record.virtual_address = data_address(payload);
      break;
    case spe::Packet::kPhysical:
      record.physical_address = payload & kAddressBits;
      break;
    default:  // a previous branch's target …
      break;
  }
}

SpeRecord::Operation operation_of(const spe::Packet& packet) {
  using Operation = SpeRecord::Operation;
  if (packet.index == spe::Packet::kBranch) return Operation::kBranch;
  if (packet.index != spe::Packet::kLoadOrStore) return Operation::kOther;
  return (packet.payload & 1) != 0 ? Operation::kStore : Operation::kLoad;
}

void take_packet(const spe::Packet& packet, SpeRecord& record) {
  constexpr uint64_t kCycles = 0xfff;
  using Type = spe::PacketType;
  switch (packet.type) {
    case Type::kPad:
    case Type::kEnd:
      break;
    case Type::kTimestamp:
      record.time = packet.payload;
      break;
    case Type::kEvents:
      record.events = packet.payload;
      break;
    case Type::kDataSource:
      record.source = static_cast<uint16_t>(packet.payload);
      break;
    case Type::kContext:
      record.context = static_cast<uint32_t>(packet.payload);
      break;
    case Type::kOperation:
      record.operation = operation_of(packet);
      break;
    case Type::kAddress:
      take_address(packet.index, packet.payload, record);
      break;
    case Type::kCounter:
      if (packet.index == spe::Packet::kTotal)
        record.latency = static_cast<uint16_t>(packet.payload & kCycles);
      break;
  }
}

}  // namespace

bool SpeReader::next(SpeRecord& record) {
  record = {};
  while (at_ < trace_.size()) {
    spe::Packet packet;
    bool is_packet = spe::read_packet(trace_, at_, packet);
    size_t size = std::min(packet.size, trace_.size() - at_);
    at_ += size;
    if (!is_packet) {
      bad_bytes_ += size;
      continue;
    }
    take_packet(packet, record);
    if (packet.type == spe::PacketType::kEnd || packet.type == spe::PacketType::kTimestamp)
      return true;
  }
  return false;
}

namespace {

// Fields of perf_mem_data_src (linux/perf_event.h).
constexpr uint64_t kOpLoad = 0x2, kOpStore = 0x4;
constexpr uint64_t level(uint64_t bits) {
  return bits << 5;
}
constexpr uint64_t kHit = level(0x2), kMiss = level(0x4), kL1 = level(0x8), kL2 = level(0x20),
                   kL3 = level(0x40), kLocalRam = level(0x80), kNoLevel = level(0x1);
constexpr uint64_t snoop(uint64_t bits) {
  return bits << 19;
}
constexpr uint64_t kNotSnooped = snoop(0x1), kSnoopNone = snoop(0x2), kSnoopHit = snoop(0x4);
constexpr uint64_t tlb(uint64_t bits) {
  return bits << 26;
}
constexpr uint64_t kWalker = tlb(0x20), kTlbHit = tlb(0x2), kTlbMiss = tlb(0x4);
constexpr uint64_t level_number(uint64_t number) {
  return number << 33;
}
constexpr uint64_t kRam = level_number(0xd), kUnknown = level_number(0xf);
constexpr uint64_t kRemote = uint64_t{1} << 37, kFromPeer = uint64_t{2} << 38;

/// Arm's Neoverse N1, N2 and V1 tell alike where data came from (their technical reference
/// manuals, "Data source packet").
bool is_neoverse(uint64_t midr) {
  constexpr uint64_t kArm = 0x41, kParts[] = {0xd0c, 0xd49, 0xd40};
  return (midr >> 24 & 0xff) == kArm &&
         std::ranges::find(kParts, midr >> 4 & 0xfff) != std::end(kParts);
}

uint64_t neoverse_source(const SpeRecord& record) {
  if (record.operation == SpeRecord::Operation::kStore) return kNoLevel | kUnknown | kNotSnooped;
  switch (record.source) {
    case 0x0:
      return kL1 | kHit | level_number(1) | kSnoopNone;
    case 0x8:
      return kL2 | kHit | level_number(2) | kSnoopNone;
    case 0x9:  // another core's cache
      return kL2 | kHit | level_number(2) | kFromPeer;
    case 0xa:  // of this cluster
    case 0xc:  // of another one
      return kL3 | kHit | level_number(3) | kFromPeer;
    case 0xb:  // the system's cache
      return kL3 | kHit | level_number(3) | kSnoopHit;
    case 0xd:  // another socket
      return kNoLevel | kUnknown | kRemote | kFromPeer;
    case 0xe:
      return kLocalRam | kHit | kRam | kSnoopNone;
    default:
      return 0;
  }
}

/// Of other processors the events tell.
uint64_t level_of_events(const SpeRecord& record) {
  using Event = SpeRecord::Event;
  uint64_t found = record.has(Event::kRemoteAccess) ? kRemote : 0;
  if (record.has(Event::kLastLevelAccess | Event::kLastLevelMiss))
    return found | kL3 | (record.has(Event::kLastLevelMiss) ? kMiss : kHit);
  if (record.has(Event::kL1Access | Event::kL1Refill))
    return found | kL1 | (record.has(Event::kL1Refill) ? kMiss : kHit);
  return found;
}

}  // namespace

uint64_t spe_data_source(const SpeRecord& record, uint64_t midr) {
  if (!record.is_access()) return 0;
  uint64_t source = record.operation == SpeRecord::Operation::kLoad ? kOpLoad : kOpStore;
  source |= is_neoverse(midr) ? neoverse_source(record) : level_of_events(record);
  using Event = SpeRecord::Event;
  if (record.has(Event::kTlbAccess | Event::kTlbWalk))
    source |= kWalker | (record.has(Event::kTlbWalk) ? kTlbMiss : kTlbHit);
  return source;
}

}  // namespace sonde::itrace
