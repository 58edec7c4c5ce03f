#include "event/print_fmt/print_fmt_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace sonde::print_fmt {
namespace {

constexpr char kLower[] = "0123456789abcdef";
constexpr char kUpper[] = "0123456789ABCDEF";

bool has(std::string_view letters, char c) {
  return letters.find(c) != std::string_view::npos;
}

void append_byte(std::byte byte, const char* digits, std::string& out) {
  auto b = static_cast<unsigned>(byte);
  out += digits[b >> 4];
  out += digits[b & 15];
}

void append_decimal(uint64_t value, std::string& out) {
  fmt::format_int text(value);
  out.append(text.data(), text.size());
}

/// The digits of an unsigned number, most significant first, in a local buffer.
struct Digits {
  char text[24];
  size_t start = sizeof text;

  Digits(char conversion, uint64_t value) {
    unsigned shift = conversion == 'o' ? 3 : 4;
    const char* digits = conversion == 'X' ? kUpper : kLower;
    if (conversion == 'd' || conversion == 'u') {
      do {
        text[--start] = static_cast<char>('0' + value % 10);
        value /= 10;
      } while (value != 0);
    } else {
      do {
        text[--start] = digits[value & ((1U << shift) - 1)];
        value >>= shift;
      } while (value != 0);
    }
  }
  [[nodiscard]] std::string_view view() const { return {text + start, sizeof text - start}; }
};

bool bit(Bytes bytes, uint32_t index, uint32_t word_size, ByteOrder order) {
  // A bitmap is an array of longs: on big-endian machines the low bits are at the end of each long.
  size_t byte = index / 8;
  if (order == ByteOrder::kBig)
    byte = byte / word_size * word_size + (word_size - 1 - byte % word_size);
  return byte < bytes.size() && (static_cast<unsigned>(bytes[byte]) >> (index % 8) & 1) != 0;
}

}  // namespace

void append_integer(const Spec& spec, int width, int precision, uint64_t value, std::string& out) {
  std::string_view prefix;
  bool is_negative = spec.conversion == 'd' && static_cast<int64_t>(value) < 0;
  if (is_negative) value = uint64_t{0} - value;
  if (width <= 1 && precision < 0 && spec.flags == 0) {
    if (is_negative) out += '-';
    if (spec.conversion == 'd' || spec.conversion == 'u') return append_decimal(value, out);
    out += Digits(spec.conversion, value).view();
    return;
  }
  Digits digits(spec.conversion, value);
  if (is_negative) {
    prefix = "-";
  } else if (spec.conversion == 'd') {
    if ((spec.flags & Spec::kPlus) != 0)
      prefix = "+";
    else if ((spec.flags & Spec::kSpace) != 0)
      prefix = " ";
  } else if ((spec.flags & Spec::kAlternate) != 0 && value != 0) {
    prefix = spec.conversion == 'x'   ? "0x"
             : spec.conversion == 'X' ? "0X"
             : spec.conversion == 'o' ? "0"
                                      : "";
  }
  std::string_view text = digits.view();
  auto zeros = precision < 0 ? 0 : static_cast<int>(precision) - static_cast<int>(text.size());
  auto used = static_cast<int>(prefix.size() + text.size()) + std::max(zeros, 0);
  bool is_left = (spec.flags & Spec::kLeft) != 0;
  if (precision < 0 && !is_left && (spec.flags & Spec::kZero) != 0) {
    zeros = width - used;
    used = std::max(width, used);
  }
  if (!is_left && width > used) out.append(static_cast<size_t>(width - used), ' ');
  out += prefix;
  if (zeros > 0) out.append(static_cast<size_t>(zeros), '0');
  out += text;
  if (is_left && width > used) out.append(static_cast<size_t>(width - used), ' ');
}

void pad(const Spec& spec, int width, int precision, size_t start, std::string& out) {
  if (precision >= 0 && out.size() - start > static_cast<size_t>(precision))
    out.resize(start + static_cast<size_t>(precision));
  size_t size = out.size() - start;
  if (width <= 0 || size >= static_cast<size_t>(width)) return;
  size_t missing = static_cast<size_t>(width) - size;
  if ((spec.flags & Spec::kLeft) != 0)
    out.append(missing, ' ');
  else
    out.insert(start, missing, ' ');
}

void append_hex(uint64_t value, std::string& out) {
  out += Digits('x', value).view();
}

void append_ip4(std::string_view letters, ByteOrder order, Bytes address, std::string& out) {
  if (address.size() < 4) return;
  bool is_padded = letters.starts_with('i');
  bool is_reversed =
      has(letters.substr(1), 'l') || (has(letters.substr(1), 'h') && order == ByteOrder::kLittle);
  for (size_t i = 0; i < 4; ++i) {
    if (i != 0) out += '.';
    auto part = static_cast<unsigned>(address[is_reversed ? 3 - i : i]);
    if (is_padded)
      fmt::format_to(std::back_inserter(out), "{:03}", part);
    else
      append_decimal(part, out);
  }
}

void append_ip6(std::string_view letters, Bytes address, std::string& out) {
  if (address.size() < 16) return;
  std::array<uint16_t, 8> words;
  for (size_t i = 0; i < 8; ++i) words[i] = load<uint16_t>(address.data() + 2 * i, ByteOrder::kBig);
  if (!has(letters, 'c')) {
    for (size_t i = 0; i < 8; ++i) {
      if (i != 0 && letters.starts_with('I')) out += ':';
      append_byte(address[2 * i], kLower, out);
      append_byte(address[2 * i + 1], kLower, out);
    }
    return;
  }
  bool is_mapped =
      std::all_of(words.begin(), words.begin() + 5, [](uint16_t w) { return w == 0; }) &&
      words[5] == 0xffff;
  // ISATAP: the interface identifier is 0000:5efe or 0200:5efe followed by an IPv4 address.
  bool has_ip4 = is_mapped || ((words[4] | 0x0200) == 0x0200 && words[5] == 0x5efe);
  size_t count = has_ip4 ? 6 : 8;
  size_t best = 0;
  size_t longest = 1;  // a single zero stays
  for (size_t i = 0; i < count;) {
    size_t end = i;
    while (end < count && words[end] == 0) ++end;
    if (end - i > longest) {
      longest = end - i;
      best = i;
    }
    i = end + 1;
  }
  bool needs_colon = false;
  for (size_t i = 0; i < count; ++i) {
    if (longest > 1 && i == best) {
      out += needs_colon || i == 0 ? "::" : ":";
      i += longest - 1;
      needs_colon = false;
      continue;
    }
    if (needs_colon) out += ':';
    append_hex(words[i], out);
    needs_colon = true;
  }
  if (!has_ip4) return;
  if (needs_colon) out += ':';
  append_ip4("I", ByteOrder::kBig, address.subspan(12), out);
}

void append_socket(std::string_view letters, ByteOrder order, Bytes address, std::string& out) {
  constexpr uint16_t kInet = 2;
  constexpr uint16_t kInet6 = 10;
  if (address.size() < 8) return;
  std::string_view options = letters.substr(1);
  auto family = load<uint16_t>(address.data(), order);
  auto port = load<uint16_t>(address.data() + 2, ByteOrder::kBig);
  if (family == kInet) {
    append_ip4("I", ByteOrder::kBig, address.subspan(4, 4), out);
    if (has(options, 'p')) {
      out += ':';
      append_decimal(port, out);
    }
  } else if (family == kInet6 && address.size() >= 24) {
    bool is_bracketed = has(options, 'p') || has(options, 'f') || has(options, 's');
    if (is_bracketed) out += '[';
    append_ip6(has(options, 'c') ? "Ic" : "I", address.subspan(8, 16), out);
    if (is_bracketed) out += ']';
    if (has(options, 'p')) {
      out += ':';
      append_decimal(port, out);
    }
    if (has(options, 'f')) {
      out += '/';
      append_decimal(load<uint32_t>(address.data() + 4, ByteOrder::kBig) & 0x0fffffff, out);
    }
    if (has(options, 's') && address.size() >= 28) {
      out += '%';
      append_decimal(load<uint32_t>(address.data() + 24, order), out);
    }
  }
}

void append_mac(std::string_view letters, Bytes address, std::string& out) {
  if (address.size() < 6) {
    out += "INVALIDMAC";
    return;
  }
  char separator = letters.starts_with('m') ? '\0' : has(letters, 'F') ? '-' : ':';
  for (size_t i = 0; i < 6; ++i) {
    if (i != 0 && separator != '\0') out += separator;
    append_byte(address[has(letters, 'R') ? 5 - i : i], kLower, out);
  }
}

void append_uuid(std::string_view letters, Bytes uuid, std::string& out) {
  static constexpr std::array<uint8_t, 16> kBig{0, 1, 2,  3,  4,  5,  6,  7,
                                                8, 9, 10, 11, 12, 13, 14, 15};
  static constexpr std::array<uint8_t, 16> kLittle{3, 2, 1,  0,  5,  4,  7,  6,
                                                   8, 9, 10, 11, 12, 13, 14, 15};
  if (uuid.size() < 16) {
    out += "INVALIDUUID";
    return;
  }
  std::string_view options = letters.substr(1);
  const auto& positions = has(options, 'l') || has(options, 'L') ? kLittle : kBig;
  const char* digits = has(options, 'L') || has(options, 'B') ? kUpper : kLower;
  for (size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    append_byte(uuid[positions[i]], digits, out);
  }
}

void append_hex_bytes(Bytes bytes, char separator, std::string& out) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i != 0 && separator != '\0') out += separator;
    append_byte(bytes[i], kLower, out);
  }
}

void append_bitmap(Bytes bytes, uint32_t bits, uint32_t word_size, ByteOrder order,
                   std::string& out) {
  uint32_t words = (bits + 31) / 32;
  for (uint32_t word = words; word-- > 0;) {
    uint32_t value = 0;
    uint32_t here = std::min(bits - word * 32, 32U);
    for (uint32_t i = 0; i < here; ++i)
      value |= static_cast<uint32_t>(bit(bytes, word * 32 + i, word_size, order)) << i;
    if (word + 1 != words) out += ',';
    for (uint32_t digit = (here + 3) / 4; digit-- > 0;) out += kLower[value >> (4 * digit) & 15];
  }
}

void append_bitmap_list(Bytes bytes, uint32_t bits, uint32_t word_size, ByteOrder order,
                        std::string& out) {
  bool is_first = true;
  for (uint32_t i = 0; i < bits; ++i) {
    if (!bit(bytes, i, word_size, order)) continue;
    uint32_t last = i;
    while (last + 1 < bits && bit(bytes, last + 1, word_size, order)) ++last;
    if (!is_first) out += ',';
    is_first = false;
    append_decimal(i, out);
    if (last != i) {
      out += '-';
      append_decimal(last, out);
    }
    i = last;
  }
}

void append_hex_dump(const DumpLayout& layout, ByteOrder order, Bytes bytes, std::string& out) {
  size_t row_size = layout.row_size == 32 ? 32 : 16;
  out += '\n';
  for (size_t offset = 0; offset < bytes.size(); offset += row_size) {
    Bytes row = bytes.subspan(offset, std::min(row_size, bytes.size() - offset));
    size_t group = layout.group_size;
    if ((group != 2 && group != 4 && group != 8) || row.size() % group != 0) group = 1;
    out += layout.prefix;
    if (layout.prefix_type == 2) fmt::format_to(std::back_inserter(out), "{:08x}: ", offset);
    size_t start = out.size();
    for (size_t i = 0; i < row.size(); i += group) {
      if (i != 0) out += ' ';
      // A group is a number in the machine's byte order.
      for (size_t j = 0; j < group; ++j)
        append_byte(row[i + (order == ByteOrder::kLittle ? group - 1 - j : j)], kLower, out);
    }
    if (layout.ascii) {
      size_t column = row_size * 2 + row_size / group + 1;
      while (out.size() - start < column) out += ' ';
      for (std::byte b : row) {
        char c = static_cast<char>(b);
        out += c >= 0x20 && c < 0x7f ? c : '.';
      }
    }
    out += '\n';
  }
}

}  // namespace sonde::print_fmt
