#include "elf/segment_map.h"

namespace sonde {
namespace {

constexpr uint64_t kPage = 4096;

constexpr uint64_t page_start(uint64_t value) {
  return value & ~(kPage - 1);
}

/// Whether `offset` is in the bytes of the segment, or (`whole_pages`) in the pages that contain
/// them.
bool shows(const ElfSegment& segment, uint64_t offset, bool whole_pages) {
  uint64_t begin = segment.offset.value;
  if (!whole_pages) return offset >= begin && offset - begin < segment.file_size;
  uint64_t tail = (begin + segment.file_size + kPage - 1) & ~(kPage - 1);
  return offset >= page_start(begin) && offset < tail;
}

}  // namespace

std::optional<ElfAddr> SegmentMap::addr_of(FileOffset offset) const {
  if (segments_.empty()) return ElfAddr(offset.value);
  for (bool whole_pages : {false, true}) {
    const ElfSegment* found = nullptr;
    for (const ElfSegment& segment : segments_) {
      if (!shows(segment, offset.value, whole_pages)) continue;
      if (found == nullptr || (segment.executable && !found->executable)) found = &segment;
    }
    // Unsigned arithmetic wraps as intended if the offset is before the segment's first byte.
    if (found != nullptr) return found->addr + (offset - found->offset);
  }
  return std::nullopt;
}

std::optional<FileOffset> SegmentMap::offset_of(ElfAddr addr) const {
  if (segments_.empty()) return FileOffset(addr.value);
  for (const ElfSegment& segment : segments_)
    if (addr >= segment.addr && addr - segment.addr < segment.memory_size)
      return segment.offset + (addr - segment.addr);
  return std::nullopt;
}

}  // namespace sonde
