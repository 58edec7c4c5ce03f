// SegmentMap: maps parts of an object's file to its own virtual addresses (the PT_LOAD headers).
//
// A mapping in a process has a file offset; symbols and DWARF use ELF addresses. This is the
// conversion, small enough to be kept after the file is closed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"

namespace sonde {

struct ElfSegment {
  FileOffset offset;
  ElfAddr addr;
  uint64_t file_size = 0;
  uint64_t memory_size = 0;
  bool executable = false;
};

class SegmentMap {
 public:
  void add(const ElfSegment& segment) { segments_.push_back(segment); }
  [[nodiscard]] std::span<const ElfSegment> segments() const { return segments_; }

  /// The address at which the file's byte at `offset` is loaded. If several segments contain it,
  /// the executable one; if none contains it but a segment's pages do (the kernel maps whole
  /// pages), that one. Without any segment (relocatable files) addresses are file offsets.
  [[nodiscard]] std::optional<ElfAddr> addr_of(FileOffset offset) const;
  /// The inverse; addresses past the bytes of the file (.bss) continue the segment.
  [[nodiscard]] std::optional<FileOffset> offset_of(ElfAddr addr) const;

 private:
  std::vector<ElfSegment> segments_;
};

}  // namespace sonde
