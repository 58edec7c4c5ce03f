// Variable-length numbers (DWARF 5, section 7.6).
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace sonde {

/// Bits beyond the 64th are dropped; an unterminated number leaves the cursor not ok.
inline uint64_t uleb128(ByteCursor& in) {
  uint64_t value = 0;
  for (unsigned shift = 0; in.ok(); shift += 7) {
    uint8_t byte = in.u8();
    if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) break;
  }
  return value;
}

inline int64_t sleb128(ByteCursor& in) {
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte = 0x80;
  while (in.ok() && (byte & 0x80) != 0) {
    byte = in.u8();
    if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
    shift += 7;
  }
  if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
  return static_cast<int64_t>(value);
}

}  // namespace sonde
