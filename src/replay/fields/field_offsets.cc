#include "replay/fields/field_offsets.h"

namespace sonde {

IntField IntField::of(const TracepointFormat& format, std::string_view field) {
  const TracepointField* found = format.field(field);
  bool is_integer = found != nullptr && !found->is_array &&
                    (found->size == 1 || found->size == 2 || found->size == 4 || found->size == 8);
  return is_integer ? IntField{found->offset, found->size} : IntField{};
}

uint64_t IntField::read(Bytes raw, ByteOrder order) const {
  if (size > raw.size() || offset > raw.size() - size) return 0;
  const std::byte* at = raw.data() + offset;
  switch (size) {
    case 4:
      return load<uint32_t>(at, order);
    case 8:
      return load<uint64_t>(at, order);
    case 2:
      return load<uint16_t>(at, order);
    case 1:
      return load<uint8_t>(at, order);
    default:
      return 0;
  }
}

TextPlace TextPlace::of(const TracepointFormat& format, std::string_view field) {
  const TracepointField* found = format.field(field);
  if (found == nullptr || !found->is_string || found->is_dynamic) return {};
  return {found->offset, found->size};
}

std::string_view TextPlace::read(Bytes raw) const {
  if (size > raw.size() || offset > raw.size() - size) return {};
  std::string_view text = as_text(raw.subspan(offset, size));
  return text.substr(0, text.find('\0'));
}

}  // namespace sonde
