// perf_event_attr in the byte order and size of the machine that recorded it.
//
// The struct grew over the years (VER0 64 bytes … VER8 136 bytes) and its bit fields lie mirrored
// on big-endian machines, so it is decoded and encoded field by field. What an older attr lacks is
// zero; what a newer one has more is ignored, except that `attr.size` keeps the stored size.
#pragma once

#include <cstdint>
#include <optional>

#include "abi/perf_event.h"
#include "base/bytes.h"

namespace sonde {

/// The attr at the start of `bytes`, which may be longer than the attr (then attr.size limits what
/// is read) or shorter (then the rest is zero). attr.size is what is stored, or 64 where that is 0.
/// Nothing where less than VER0 is there, or attr.size is less than that.
std::optional<abi::EventAttr> decode_attr(Bytes bytes, ByteOrder order);

/// Appends exactly `size` bytes: the first `size` of the attr, then zeros. The stored size field is
/// `size` too. decode_attr(encode_attr(x)) == x for every x with x.size == size >= kAttrSizeVer8.
void encode_attr(const abi::EventAttr& attr, uint32_t size, ByteBuilder& out);

/// The flag word (disabled … defer_output) as one integer as a machine of `order` stores it.
uint64_t attr_flag_word(const abi::EventAttr& attr, ByteOrder order);
void set_attr_flag_word(abi::EventAttr& attr, uint64_t word, ByteOrder order);

/// Mirrors a word of C bit fields from big-endian to little-endian layout: `widths` are those of
/// the fields in order of declaration. Used for attr flags and the flags of branch entries.
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
