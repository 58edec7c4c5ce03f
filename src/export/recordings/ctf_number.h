// Numbers inside Common Trace Format events.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace sonde {

/// In memory order; traces declare themselves little-endian.
template <typename T>
void append_bytes(std::string& bytes, T number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// A type of 4 or 8 bytes.
struct CtfNumber {
  unsigned bits = 64;
  bool is_signed = false;
  bool is_hex = false;

  /// In the metadata language. `alignment`: in bits.
  [[nodiscard]] std::string text(unsigned alignment = 1) const {
    return fmt::format(
        "integer {{ size = {}; align = {}; signed = {}; encoding = none; base = {}; byte_order = "
        "le; }}",
        bits, alignment, is_signed, is_hex ? "hexadecimal" : "decimal");
  }
  void append(std::string& bytes, uint64_t value) const {
    if (bits == 64)
      append_bytes(bytes, value);
    else
      append_bytes(bytes, static_cast<uint32_t>(value));
  }
};

}  // namespace sonde
