#include "event/print_fmt/field_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace sonde {
namespace {

uint64_t load_unsigned(const std::byte* at, size_t size, ByteOrder order) {
  switch (size) {
    case 1:
      return load<uint8_t>(at, order);
    case 2:
      return load<uint16_t>(at, order);
    case 4:
      return load<uint32_t>(at, order);
    default:
      return load<uint64_t>(at, order);
  }
}

bool is_integer_size(size_t size) {
  return size == 1 || size == 2 || size == 4 || size == 8;
}

uint64_t sign_extend(uint64_t value, size_t size) {
  unsigned shift = 64 - 8 * static_cast<unsigned>(size);
  return static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
}

/// Whether it is a string for a terminal: printable or whitespace up to the first NUL.
bool is_printable(Bytes bytes) {
  for (std::byte b : bytes) {
    auto c = static_cast<unsigned char>(b);
    if (c == 0) return true;
    if (c >= 0x7f || (c < 0x20 && (c < '\t' || c > '\r'))) return false;
  }
  return true;
}

void append_array(Bytes bytes, std::string& out) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out += "ARRAY[";
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i != 0) out += ", ";
    auto byte = static_cast<unsigned>(bytes[i]);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  out += ']';
}

void append_number(const TracepointField& field, uint64_t value, std::string& out) {
  auto signed_value = static_cast<int64_t>(value);
  auto to = std::back_inserter(out);
  if (field.is_pointer) {
    fmt::format_to(to, "0x{:x}", value);
  } else if (!field.is_signed) {
    if (field.is_long)
      fmt::format_to(to, "0x{:x}", value);
    else
      out.append(fmt::format_int(value).c_str());
  } else if (field.size == 4 && field.is_long) {
    fmt::format_to(to, "0x{:x}", static_cast<uint32_t>(value));
  } else if (field.size == 2) {
    fmt::format_to(to, "{:2}",
                   signed_value);  // perf pads these, scripts may have come to count on it
  } else {
    out.append(fmt::format_int(signed_value).c_str());
  }
}

}  // namespace

std::optional<uint64_t> field_number(const TracepointField& field, Bytes raw, ByteOrder order) {
  if (field.is_array || !is_integer_size(field.size)) return std::nullopt;
  if (raw.size() < field.size || field.offset > raw.size() - field.size) return std::nullopt;
  uint64_t value = load_unsigned(raw.data() + field.offset, field.size, order);
  return field.is_signed ? sign_extend(value, field.size) : value;
}

Bytes field_bytes(const TracepointField& field, Bytes raw, ByteOrder order) {
  size_t start = field.offset;
  size_t size = field.size;
  if (field.is_dynamic) {
    if (raw.size() < 4 || field.offset > raw.size() - 4) return {};
    auto location = load<uint32_t>(raw.data() + field.offset, order);
    start = location & 0xffff;
    size = location >> 16;
    if (field.is_rel_dynamic) start += size_t{field.offset} + field.size;
  }
  if (start > raw.size()) return {};
  if (field.is_flexible()) size = raw.size() - start;
  return raw.subspan(start, std::min(size, raw.size() - start));
}

std::optional<std::string_view> field_string(const TracepointField& field, Bytes raw,
                                             ByteOrder order) {
  if (!field.is_string) return std::nullopt;
  std::string_view text = as_text(field_bytes(field, raw, order));
  return text.substr(0, text.find('\0'));
}

void append_field(const TracepointField& field, Bytes raw, ByteOrder order, std::string& out) {
  if (field.is_array) {
    Bytes bytes = field_bytes(field, raw, order);
    if (field.is_string && is_printable(bytes)) {
      std::string_view text = as_text(bytes);
      out += text.substr(0, text.find('\0'));
    } else {
      append_array(bytes, out);
    }
  } else if (auto value = field_number(field, raw, order)) {
    append_number(field, *value, out);
  } else {
    append_array(field_bytes(field, raw, order), out);  // a structure
  }
}

std::optional<std::string_view> field_in_text(std::string_view name, std::string_view text) {
  for (;;) {
    size_t end = text.find(' ');
    std::string_view word = text.substr(0, end);
    if (word.size() > name.size() && word[name.size()] == '=' && word.starts_with(name))
      return word.substr(name.size() + 1);
    if (end == std::string_view::npos) return std::nullopt;
    text.remove_prefix(end + 1);
  }
}

void append_all_fields(const TracepointFormat& format, Bytes raw, ByteOrder order,
                       std::string& out) {
  for (const TracepointField& field : format.fields()) {
    out += ' ';
    out += field.name;
    out += '=';
    append_field(field, raw, order, out);
  }
}

}  // namespace sonde
