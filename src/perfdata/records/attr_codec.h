// perf_event_attr in the byte order and size of the machine that recorded it.
//
// The struct grew over the years (VER0 64 bytes … VER8 136 bytes), and its bit fields are mirrored
// on big-endian machines, so it is decoded and encoded field by field. Fields that an older attr
// lacks are zero; those that a newer one adds are ignored, except that `attr.size` keeps the stored
// size.
#pragma once

#include <cstdint>
#include <optional>

#include "abi/perf_event.h"
#include "base/bytes.h"

namespace sonde {

/// Decodes the attr at the start of `bytes`, which may be longer than the attr (attr.size limits
/// what is read) or shorter (the rest is zero). attr.size is the stored value, or 64 if that is 0.
/// Returns nothing if there are fewer bytes than VER0 has, or if attr.size is smaller than that.
std::optional<abi::EventAttr> decode_attr(Bytes bytes, ByteOrder order);

/// Appends exactly `size` bytes: the first `size` of the attr, then zeros. The stored size field is
/// `size` too. decode_attr(encode_attr(x)) == x for every x with x.size == size >= kAttrSizeVer8.
void encode_attr(const abi::EventAttr& attr, uint32_t size, ByteBuilder& out);

/// The flag word (disabled … defer_output) as one integer, as a machine of `order` stores it.
uint64_t attr_flag_word(const abi::EventAttr& attr, ByteOrder order);
void set_attr_flag_word(abi::EventAttr& attr, uint64_t word, ByteOrder order);

/// Mirrors a word of C bit fields from big-endian to little-endian layout. `widths` lists the
/// fields' widths in order of declaration. Used for attr flags and branch entry flags.
constexpr uint64_t mirror_bit_fields(uint64_t word, std::span<const uint8_t> widths,
                                     bool from_big) {
  uint64_t mirrored = 0;
  uint32_t low = 0;
  for (uint8_t width : widths) {
    uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    uint32_t high = 64 - low - width;
    mirrored |= from_big ? ((word >> high) & mask) << low : ((word >> low) & mask) << high;
    low += width;
  }
  return mirrored;
}

}  // namespace sonde
