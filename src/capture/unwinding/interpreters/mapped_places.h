// Where an object's data is: in its file, and in a process that maps it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "elf/elf_file.h"

namespace sonde {

/// The distance of a mapped address from where offset 0 of the file would be mapped with the code;
/// nullopt if the object has no code.
[[nodiscard]] inline std::optional<uint64_t> mapped_distance(const SegmentMap& segments,
                                                             uint64_t address) {
  for (const ElfSegment& segment : segments.segments())
    if (segment.executable) return address - segment.addr.value + segment.offset.value;
  return std::nullopt;
}

/// What the file has from an address on: at most `most` bytes.
[[nodiscard]] inline Bytes file_bytes_up_to(const ElfFile& file, uint64_t address, size_t most) {
  std::optional<FileOffset> offset = file.segments().offset_of(ElfAddr(address));
  Bytes all = file.bytes();
  if (!offset || offset->value > all.size()) return {};
  return all.subspan(offset->value, std::min(most, all.size() - offset->value));
}

/// Likewise all of them; empty if the file ends before.
[[nodiscard]] inline Bytes file_bytes_at(const ElfFile& file, uint64_t address, size_t size) {
  Bytes found = file_bytes_up_to(file, address, size);
  return found.size() == size ? found : Bytes{};
}

}  // namespace sonde
