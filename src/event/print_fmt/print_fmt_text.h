// Text of single values, as the kernel's printf writes them
// (Documentation/core-api/printk-formats.rst): padded numbers, network addresses, UUIDs, bytes in
// hex, bitmaps. All append to a string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "event/print_fmt/print_fmt_code.h"

namespace sonde::print_fmt {

/// %d %u %x %X %o with flags; `value` is already truncated to the width of the conversion.
void append_integer(const Spec& spec, int width, int precision, uint64_t value, std::string& out);

/// Truncates what `out` contains from `start` on to `precision` bytes (if not negative), and pads
/// it to `width`.
void pad(const Spec& spec, int width, int precision, size_t start, std::string& out);

void append_hex(uint64_t value, std::string& out);

/// Four bytes as 10.2.3.4; `letters` are those of %pI4 or %pi4 with its byte order (h, n, b, l).
void append_ip4(std::string_view letters, ByteOrder order, Bytes address, std::string& out);
/// Sixteen bytes: 'c' among the letters compresses (RFC 5952), a leading 'i' omits the colons.
void append_ip6(std::string_view letters, Bytes address, std::string& out);
/// A struct sockaddr of AF_INET or AF_INET6; letters p (port), f (flow), s (scope), c (compressed).
void append_socket(std::string_view letters, ByteOrder order, Bytes address, std::string& out);
/// %pM, %pm (no colons), %pMF (dashes), %pMR (reversed).
void append_mac(std::string_view letters, Bytes address, std::string& out);
/// %pUb %pUB (big-endian) %pUl %pUL (little-endian fields).
void append_uuid(std::string_view letters, Bytes uuid, std::string& out);
/// Bytes in hex, separated by `separator` (0: none).
void append_hex_bytes(Bytes bytes, char separator, std::string& out);
/// `bits` bits as 32-bit words of hex, highest first: 00000000,00008103.
void append_bitmap(Bytes bytes, uint32_t bits, uint32_t word_size, ByteOrder order,
                   std::string& out);
/// The numbers of the set bits: 0-1,8,15.
void append_bitmap_list(Bytes bytes, uint32_t bits, uint32_t word_size, ByteOrder order,
                        std::string& out);

struct DumpLayout {
  std::string_view prefix{};
  uint64_t prefix_type = 0;  // 0 none, 1 address (unknown here, so omitted), 2 offset
  uint64_t row_size = 16;    // 16 or 32
  uint64_t group_size = 1;   // 1, 2, 4 or 8
  bool ascii = false;
};
/// Rows of print_hex_dump, preceded by a newline and each ending with one.
void append_hex_dump(const DumpLayout& layout, ByteOrder order, Bytes bytes, std::string& out);

}  // namespace sonde::print_fmt
