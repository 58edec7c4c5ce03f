#include "elf/build_id.h"

#include <elf.h>

#include <algorithm>

namespace sonde {
namespace {

/// What recordings have room for; longer ids are compared by their beginning.
constexpr size_t kMaxBuildId = 20;

}  // namespace

std::string_view build_id_in_notes(Bytes notes, ByteOrder order, size_t alignment) {
  ByteCursor cursor(notes, order);
  size_t align = alignment == 8 ? 8 : 4;
  auto padded = [align](uint64_t size) { return (size + align - 1) & ~uint64_t{align - 1}; };
  while (cursor.left() >= sizeof(Elf64_Nhdr)) {
    uint64_t name_size = cursor.u32();
    uint64_t content_size = cursor.u32();
    uint32_t type = cursor.u32();
    // The header's 12 bytes count for the alignment of what follows it.
    uint64_t header = sizeof(Elf64_Nhdr);
    std::string_view owner = as_text(cursor.take(name_size));
    cursor.skip(std::min<uint64_t>(padded(header + name_size) - header - name_size, cursor.left()));
    std::string_view content = as_text(cursor.take(content_size));
    if (!cursor.ok()) return {};
    if (type == NT_GNU_BUILD_ID && owner == std::string_view("GNU", 4) && !content.empty())
      return content;
    cursor.skip(std::min<uint64_t>(padded(content_size) - content_size, cursor.left()));
  }
  return {};
}

bool same_build_id(std::string_view a, std::string_view b) {
  a = a.substr(0, kMaxBuildId);
  b = b.substr(0, kMaxBuildId);
  if (a.size() < b.size()) std::swap(a, b);
  return a.substr(0, b.size()) == b &&
         std::ranges::all_of(a.substr(b.size()), [](char c) { return c == '\0'; });
}

}  // namespace sonde
