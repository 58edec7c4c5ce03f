#include "trace/arguments/field_texts.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>

namespace sonde {
namespace {

constexpr uint32_t kMaxElements = 64;

std::optional<uint64_t> load_number(Bytes raw, ByteOrder order, size_t offset, uint32_t size,
                                    bool is_signed) {
  if (offset > raw.size() || size > raw.size() - offset) return std::nullopt;
  const std::byte* at = raw.data() + offset;
  auto widen = [is_signed]<typename Unsigned, typename Signed>(Unsigned value, Signed) {
    return is_signed ? static_cast<uint64_t>(int64_t{static_cast<Signed>(value)}) : uint64_t{value};
  };
  switch (size) {
    case 1:
      return widen(load<uint8_t>(at, order), int8_t{});
    case 2:
      return widen(load<uint16_t>(at, order), int16_t{});
    case 4:
      return widen(load<uint32_t>(at, order), int32_t{});
    case 8:
      return load<uint64_t>(at, order);
    default:
      return std::nullopt;
  }
}

/// The bytes of an array, static or dynamic.
Bytes array_bytes(const TracepointField& field, Bytes raw, ByteOrder order) {
  size_t offset = field.offset, size = field.size;
  if (field.is_dynamic) {
    std::optional<uint64_t> where = load_number(raw, order, field.offset, 4, false);
    if (!where) return {};
    offset = *where & 0xffff;
    size = *where >> 16;
    if (field.is_rel_dynamic) offset += field.offset + field.size;
  }
  if (offset > raw.size()) return {};
  if (field.is_flexible() || size > raw.size() - offset) size = raw.size() - offset;
  return raw.subspan(offset, size);
}

void append_string(Bytes bytes, std::string& out) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text = text.substr(0, text.find('\0'));
  out += '"';
  for (char c : text) {
    auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f)
      fmt::format_to(std::back_inserter(out), "\\{:o}", code);
    else
      out += c;
  }
  out += '"';
}

void append_elements(const TracepointField& field, Bytes bytes, ByteOrder order, std::string& out) {
  out += '[';
  uint32_t size = field.element_size == 0 ? 1 : field.element_size;
  for (uint32_t i = 0; (i + 1) * size <= bytes.size() && i < kMaxElements; ++i) {
    std::optional<uint64_t> value =
        load_number(bytes, order, size_t{i} * size, size, field.is_signed);
    if (!value) break;
    if (i > 0) out += ", ";
    fmt::format_to(std::back_inserter(out), "{}", static_cast<int64_t>(*value));
  }
  if (bytes.size() / size > kMaxElements) out += ", ...";
  out += ']';
}

void append_value(const TracepointField& field, uint64_t value, const TracedTasks& tasks,
                  std::string& out) {
  auto number = static_cast<int64_t>(value);
  if (field.is_pointer || field.name.find("addr") != std::string::npos) {
    fmt::format_to(std::back_inserter(out), "{:#x}", value);
    return;
  }
  fmt::format_to(std::back_inserter(out), "{}", number);
  if (field.type != "pid_t") return;
  std::string_view name = tasks.name_of(static_cast<int32_t>(number));
  if (!name.empty()) fmt::format_to(std::back_inserter(out), " ({})", name);
}

}  // namespace

void append_fields(const TracepointFormat& format, Bytes raw, ByteOrder order,
                   const TracedTasks& tasks, BtfText& types, std::string& out) {
  bool first = true;
  auto name = [&](const TracepointField& field) {
    fmt::format_to(std::back_inserter(out), "{}{}: ", first ? "" : ", ", field.name);
    first = false;
  };
  for (const TracepointField& field : format.fields()) {
    if (field.is_array) {
      name(field);
      Bytes bytes = array_bytes(field, raw, order);
      if (field.is_string)
        append_string(bytes, out);
      else
        append_elements(field, bytes, order, out);
      continue;
    }
    std::optional<uint64_t> value =
        load_number(raw, order, field.offset, field.size, field.is_signed);
    std::string_view word = value ? types.enumerator(field.type, *value) : std::string_view();
    if (!value || (*value == 0 && word.empty())) continue;
    name(field);
    if (!word.empty())
      out += word;
    else
      append_value(field, *value, tasks, out);
  }
}

}  // namespace sonde
