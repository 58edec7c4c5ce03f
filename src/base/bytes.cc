#include "base/bytes.h"

namespace sonde {

void ByteBuilder::append(const void* from, size_t size) {
  const auto* first = static_cast<const std::byte*>(from);
  data_.insert(data_.end(), first, first + size);
}

void ByteBuilder::padded_string(std::string_view t, size_t alignment) {
  text(t);
  size_t padded = (t.size() + 1 + alignment - 1) / alignment * alignment;
  zeros(padded - t.size());
}

}  // namespace sonde
