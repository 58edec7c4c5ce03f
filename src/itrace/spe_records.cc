#include "itrace/spe_records.h"

#include <algorithm>

namespace sonde::itrace {
namespace {

enum Header : uint8_t {
  kPad = 0x00,
  kEnd = 0x01,
  kExtended = 0x20,  // to 0x23: the next byte goes on
  kEvents = 0x42,
  kDataSource = 0x43,
  kContext = 0x64,
  kOther = 0x48,
  kLoadOrStore = 0x49,
  kBranch = 0x4a,
  kTimestamp = 0x71,
  kCounter = 0x98,  // to 0x9f
  kAddress = 0xb0,  // to 0xb7
};
enum AddressIndex : uint8_t { kProgramCounter, kBranchTarget, kVirtual, kPhysical };

constexpr uint8_t kSizeBits = 0x30, kIndexBits = 0x07;
constexpr uint64_t kAddressBits = (uint64_t{1} << 56) - 1, kTopByte = uint64_t{0xff} << 56;

size_t payload_size(uint8_t header) {
  return size_t{1} << ((header & kSizeBits) >> 4);
}

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
    case kProgramCounter:
      record.ip = code_address(payload);
      break;
    case kBranchTarget:
      record.target = code_address(payload);
      break;
    case kVirtual:
      record.virtual_address = data_address(payload);
      break;
    case kPhysical:
      record.physical_address = payload & kAddressBits;
      break;
    default:  // a previous branch's target …
      break;
  }
}

void take_counter(unsigned index, uint64_t payload, SpeRecord& record) {
  constexpr uint64_t kCycles = 0xfff;
  if (index == 0) record.latency = static_cast<uint16_t>(payload & kCycles);
}

}  // namespace

std::optional<uint64_t> SpeReader::payload(uint8_t header) {
  size_t size = payload_size(header);
  if (size > trace_.size() - at_) {
    at_ = trace_.size();
    return std::nullopt;
  }
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint8_t>(trace_[at_ + i]);
  at_ += size;
  return value;
}

/// An index of more than three bits, or room up to an aligned address.
bool SpeReader::take_extended(SpeRecord& record) {
  auto first = static_cast<uint8_t>(trace_[at_ - 1]);
  if (at_ == trace_.size()) return false;
  auto header = static_cast<uint8_t>(trace_[at_++]);
  if (header == kPad) {
    size_t alignment = size_t{2} << (first & 0xf);
    at_ = std::min((at_ + alignment - 1) / alignment * alignment, trace_.size());
    return false;
  }
  bool is_address = (header & ~kIndexBits) == kAddress,
       is_counter = (header & ~kIndexBits) == kCounter;
  if (!is_address && !is_counter) {
    bad_bytes_ += 2;
    return false;
  }
  unsigned index = (first & 3u) << 3 | (header & kIndexBits);
  if (auto value = payload(header))
    is_address ? take_address(index, *value, record) : take_counter(index, *value, record);
  return false;
}

bool SpeReader::take_packet(SpeRecord& record) {
  auto header = static_cast<uint8_t>(trace_[at_++]);
  if (header == kPad) return false;
  if (header == kEnd) return true;
  if ((header & ~3) == kExtended) return take_extended(record);
  auto known = static_cast<uint8_t>(header & ~kSizeBits);
  bool is_known = known == (kEvents & ~kSizeBits) || known == (kDataSource & ~kSizeBits) ||
                  (header & ~3) == kContext || (header >= kOther && header <= kBranch) ||
                  header == kTimestamp || (header & ~kIndexBits) == kCounter ||
                  (header & ~kIndexBits) == kAddress;
  if (!is_known) {
    ++bad_bytes_;
    return false;
  }
  std::optional<uint64_t> value = payload(header);
  if (!value) return false;
  using Operation = SpeRecord::Operation;
  if (header == kTimestamp) {
    record.time = *value;
    return true;
  }
  if ((header & ~3) == kContext) {
    record.context = static_cast<uint32_t>(*value);
  } else if (header >= kOther && header <= kBranch) {
    record.operation = header == kOther    ? Operation::kOther
                       : header == kBranch ? Operation::kBranch
                       : (*value & 1) != 0 ? Operation::kStore
                                           : Operation::kLoad;
  } else if ((header & ~kIndexBits) == kAddress) {
    take_address(header & kIndexBits, *value, record);
  } else if ((header & ~kIndexBits) == kCounter) {
    take_counter(header & kIndexBits, *value, record);
  } else if (known == (kEvents & ~kSizeBits)) {
    record.events = *value;
  } else {
    record.source = static_cast<uint16_t>(*value);
  }
  return false;
}

bool SpeReader::next(SpeRecord& record) {
  record = {};
  while (at_ < trace_.size())
    if (take_packet(record)) return true;
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
