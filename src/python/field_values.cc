#include "python/field_values.h"

#include <algorithm>

#include "event/print_fmt/field_format.h"

namespace sonde::python {
namespace {

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
    : field_(field),
      may_be_negative_(field.is_signed && field.size == 8),
      bits_(field.size >= 8 ? UINT64_MAX : (uint64_t{1} << (8 * field.size)) - 1) {}

PyRef FieldReader::read(Bytes raw, ByteOrder order) const {
  if (field_.is_array || field_.is_dynamic)
    return array_object(field_bytes(field_, raw, order), field_.is_string);
  uint64_t number = field_number(field_, raw, order).value_or(0);
  return may_be_negative_ ? signed_object(static_cast<int64_t>(number))
                          : number_object(number & bits_);
}

}  // namespace sonde::python
