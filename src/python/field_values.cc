#include "python/field_values.h"

#include <algorithm>

namespace sonde::python {
namespace {

uint64_t number_at(Bytes raw, uint64_t offset, uint32_t size, ByteOrder order) {
  if (offset > raw.size() || raw.size() - offset < size) return 0;
  const std::byte* at = raw.data() + offset;
  switch (size) {
    case 1:
      return load<uint8_t>(at, order);
    case 2:
      return load<uint16_t>(at, order);
    case 4:
      return load<uint32_t>(at, order);
    case 8:
      return load<uint64_t>(at, order);
    default:
      return 0;
  }
}

/// The bytes of an array, cut at the end of the raw data.
Bytes part(Bytes raw, uint64_t offset, uint64_t size) {
  if (offset >= raw.size()) return {};
  return raw.subspan(offset, std::min<uint64_t>(size, raw.size() - offset));
}

bool is_text_character(char c) {
  return (c >= ' ' && c <= '~') || (c >= '\t' && c <= '\r');
}

/// perf takes an array of characters for text if it ends in NUL and is printable up to the first.
bool is_text(std::string_view chars) {
  if (chars.empty() || chars.back() != '\0') return false;
  return std::ranges::all_of(chars.substr(0, chars.find('\0')), is_text_character);
}

PyRef array_object(Bytes bytes, bool may_be_text) {
  std::string_view chars = as_text(bytes);
  if (may_be_text && is_text(chars)) return text_object(chars.substr(0, chars.find('\0')));
  return PyRef(
      py().PyByteArray_FromStringAndSize(chars.data(), static_cast<Py_ssize_t>(chars.size())));
}

}  // namespace

FieldReader::FieldReader(const TracepointField& field)
    : offset_(field.offset),
      size_(field.is_flexible() ? UINT32_MAX : field.size),
      is_relative_(field.is_rel_dynamic) {
  if (field.is_dynamic)
    kind_ = field.is_string ? Kind::kDynamicText : Kind::kDynamic;
  else if (field.is_array)
    kind_ = field.is_string ? Kind::kText : Kind::kArray;
  else
    kind_ = field.is_signed && field.size == 8 ? Kind::kSigned : Kind::kNumber;
}

PyRef FieldReader::read(Bytes raw, ByteOrder order) const {
  switch (kind_) {
    case Kind::kNumber:
      return number_object(number_at(raw, offset_, size_, order));
    case Kind::kSigned:
      return signed_object(static_cast<int64_t>(number_at(raw, offset_, size_, order)));
    case Kind::kArray:
    case Kind::kText:
      return array_object(part(raw, offset_, size_), kind_ == Kind::kText);
    case Kind::kDynamic:
    case Kind::kDynamicText:
      break;
  }
  uint64_t place = number_at(raw, offset_, 4, order);
  uint64_t offset = (place & 0xffff) + (is_relative_ ? uint64_t{offset_} + size_ : 0);
  return array_object(part(raw, offset, place >> 16), kind_ == Kind::kDynamicText);
}

}  // namespace sonde::python
