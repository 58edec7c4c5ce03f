#include "pt/trace_contents.h"

#include <vector>

#include "base/parallel.h"
#include "pt/packet.h"
#include "pt/packet_bytes.h"
#include "pt/trace_time.h"

namespace sonde::pt {
namespace {

/// 16-bit code is libipt's.
bool is_readable_mode(uint8_t mode) {
  constexpr uint8_t kWidth = 3, k64Bit = 1, k32Bit = 2;
  if (mode >> 5 != 0) return mode >> 5 == 1;
  return (mode & kWidth) == k64Bit || (mode & kWidth) == k32Bit;
}

/// The size of a packet that its second byte tells.
size_t size_of_extended(const uint8_t* at, size_t left) {
  if (left < 2) return kShortSize;
  switch (at[1]) {
    case kLongTntByte:
      return kLongTntSize;
    case kPsbByte:
      return kSyncSize;
    case kPsbEndByte:
    case kOvfByte:
    case kStopByte:
      return kShortSize;
    case kCbrByte:
      return kCbrSize;
    case kCfeByte:
      return kCfeSize;
    case kEvdByte:
      return kEvdSize;
    case kPipByte:
      return kPipSize;
    case kVmcsByte:
      return kVmcsSize;
    case kTmaByte:
      return kTmaSize;
    case kMntByte:
      return left < 3 || at[2] == kMntThirdByte ? kMntSize : 0;
    default:
      return 0;
  }
}

/// Sizes of packets by their first byte; 0: more has to be looked at, or there is no such packet.
constexpr std::array<uint8_t, 256> kPacketSizes = [] {
  std::array<uint8_t, 256> sizes{};
  for (size_t even = 0; even < sizes.size(); even += 2) sizes[even] = 1;
  for (size_t form = 0; form < kAddressSizes.size(); ++form)
    for (size_t kind : {0x0du, 0x1du, 0x11u, 0x01u})
      if (kAddressSizes[form] != 0xff)
        sizes[form << 5 | kind] = static_cast<uint8_t>(kAddressSizes[form] + 1);
  sizes[kTscByte] = kTscSize;
  sizes[kMtcByte] = kShortSize;
  sizes[kExtended] = sizes[kModeByte] = 0;
  return sizes;
}();

/// The size of a packet that TraceReader knows; 0: it is not one.
size_t readable_size(const uint8_t* at, size_t left) {
  if (size_t size = kPacketSizes[*at]; size > 0) return size;
  if (*at == kExtended) return size_of_extended(at, left);
  return *at == kModeByte && (left < 2 || is_readable_mode(at[1])) ? kShortSize : 0;
}

/// The same inside of a block, or where one begins or ends.
size_t readable_size_in_block(Bytes rest, ItemBlock& block) {
  constexpr size_t kLongest = 16;
  Packet packet;
  if (!block.read_packet(rest, packet)) return rest.size() < kLongest ? rest.size() : 0;
  switch (packet.type) {
    case PacketType::kBbp:
    case PacketType::kBip:
    case PacketType::kBep:
      return packet.size;
    default:
      return readable_size(reinterpret_cast<const uint8_t*>(rest.data()), rest.size());
  }
}

bool is_end_of_block(const uint8_t* at, size_t left) {
  return left > 1 && at[0] == kExtended &&
         (at[1] == kBbpByte || at[1] == kBepByte || at[1] == kBepWithIpByte);
}

/// Looks at packets from one PSB on, to another one or the end.
TraceContents look_at_packets(Bytes trace, size_t from, size_t to) {
  TraceContents contents;
  const auto* bytes = reinterpret_cast<const uint8_t*>(trace.data());
  size_t at = from;
  ItemBlock block;
  while (at < to) {
    size_t left = trace.size() - at;
    bool is_block = block.is_inside() || is_end_of_block(bytes + at, left);
    size_t size = is_block ? readable_size_in_block(trace.subspan(at), block)
                           : readable_size(bytes + at, left);
    contents.has_event_packets |= is_block;
    if (size == 0) {
      contents.is_readable = false;
      Packet packet;
      bool is_packet = read_packet(trace.subspan(at), packet);
      contents.is_damaged |= !is_packet;
      size = is_packet ? packet.size : 1;
    }
    if (size == kShortSize && left >= size) {
      contents.has_overflows |= bytes[at] == kExtended && bytes[at + 1] == kOvfByte;
      contents.has_transactions |= bytes[at] == kModeByte && bytes[at + 1] >> 5 == 1;
    }
    if (left > 1 && bytes[at] == kExtended)
      contents.has_event_packets |= bytes[at + 1] == kCfeByte || bytes[at + 1] == kEvdByte;
    at += size;
  }
  // A PSB inside of a packet is none.
  contents.is_damaged |= at != to && to != trace.size();
  return contents;
}

}  // namespace

TraceContents look_through(Bytes trace, const TraceSetup& setup) {
  constexpr size_t kPart = size_t{4} << 20;
  std::vector<size_t> parts = {find_psb(trace, 0)};
  while (trace.size() - parts.back() > kPart)
    parts.push_back(find_psb(trace, parts.back() + kPart));
  if (parts.back() != trace.size()) parts.push_back(trace.size());
  std::vector<TraceContents> found(parts.size() - 1);
  parallel_jobs(found.size(),
                [&](size_t i) { found[i] = look_at_packets(trace, parts[i], parts[i + 1]); });
  TraceContents all;
  all.is_readable = setup.mtc_period < TraceTime::kTmaBits;
  for (const TraceContents& part : found) {
    all.is_readable &= part.is_readable;
    all.is_damaged |= part.is_damaged;
    all.has_overflows |= part.has_overflows;
    all.has_transactions |= part.has_transactions;
    all.has_event_packets |= part.has_event_packets;
  }
  return all;
}

}  // namespace sonde::pt
