// Iterates over a series of ELF notes (gABI, "Note Section"): owner, type, content, each padded.
//
//   for_each_note(bytes, order, 4, [](const ElfNote& note) { …; return true; });
//
// A damaged note ends the iteration; nothing outside the bytes is read.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace sonde {

struct ElfNote {
  uint32_t type = 0;
  std::string_view owner = {};  // without the terminating NUL
  Bytes content = {};
};

/// Calls `visit(const ElfNote&)` until it returns false. `alignment` is that of the segment or
/// section: 8 if it says so, else 4.
template <typename Visit>
void for_each_note(Bytes notes, ByteOrder order, size_t alignment, const Visit& visit) {
  ByteCursor cursor(notes, order);
  size_t align = alignment == 8 ? 8 : 4;
  auto padded = [align](uint64_t size) { return (size + align - 1) & ~uint64_t{align - 1}; };
  constexpr uint64_t kHeader = sizeof(Elf64_Nhdr);
  while (cursor.left() >= kHeader) {
    uint64_t name_size = cursor.u32();
    uint64_t content_size = cursor.u32();
    ElfNote note{.type = cursor.u32()};
    // The header's 12 bytes count towards the alignment of what follows.
    note.owner = as_text(cursor.take(name_size));
    cursor.skip(
        std::min<uint64_t>(padded(kHeader + name_size) - kHeader - name_size, cursor.left()));
    note.content = cursor.take(content_size);
    if (!cursor.ok()) return;
    if (note.owner.ends_with('\0')) note.owner.remove_suffix(1);
    if (!visit(note)) return;
    cursor.skip(std::min<uint64_t>(padded(content_size) - content_size, cursor.left()));
  }
}

}  // namespace sonde
