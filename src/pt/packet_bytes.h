// How packets begin, and their sizes in bytes, for the readers that must be quick: packet.h knows
// all kinds, one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sonde::pt {

// First bytes of packets, and second ones of those that begin with kExtended.
inline constexpr uint8_t kExtended = 0x02, kModeByte = 0x99, kTscByte = 0x19, kMtcByte = 0x59;
inline constexpr uint8_t kPsbByte = 0x82, kPsbEndByte = 0x23, kOvfByte = 0xf3, kStopByte = 0x83,
                         kCbrByte = 0x03, kPipByte = 0x43, kLongTntByte = 0xa3, kVmcsByte = 0xc8,
                         kTmaByte = 0x73, kMntByte = 0xc3, kMntThirdByte = 0x88, kCfeByte = 0x13,
                         kEvdByte = 0x53, kBbpByte = 0x63, kBepByte = 0x33, kBepWithIpByte = 0xb3;
inline constexpr size_t kSyncSize = 16, kLongTntSize = 8, kCbrSize = 4, kPipSize = 8, kVmcsSize = 7,
                        kTmaSize = 7, kMntSize = 11, kTscSize = 8, kShortSize = 2, kCfeSize = 4,
                        kEvdSize = 11;
/// A bit of MODE.Exec packets.
inline constexpr uint8_t kModeAllowsInterrupts = 0x04;
/// Bits of a CFE packet's third byte.
inline constexpr uint8_t kCfeHasIp = 0x80, kCfeType = 0x1f;
/// Bytes of the address by a packet's form; 0xff: there is no such form.
inline constexpr std::array<uint8_t, 8> kAddressSizes = {0, 2, 4, 6, 6, 0xff, 8, 0xff};

/// A packet's number of up to eight bytes. Packets are little-endian, and so is all that has
/// libipt.
inline uint64_t packet_number(const uint8_t* from, size_t size) {
  uint64_t value = 0;
  std::memcpy(&value, from, size);
  return value;
}

}  // namespace sonde::pt
