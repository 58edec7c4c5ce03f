// The relocations of a section, one by one: large libraries have half a million, nearly all of
// which only add the load address to a pointer.
#pragma once

#include <elf.h>

#include "elf/elf_file.h"

namespace sonde {

/// Calls `visit(const ElfRelocation&)` for each from number `first` on; for none if the section is
/// not .rela.* or .rel.*.
template <typename Visit>
void for_each_relocation(const ElfFile& file, const ElfSection& section, uint64_t first,
                         const Visit& visit) {
  if (section.type != SHT_RELA && section.type != SHT_REL) return;
  bool wide = file.is_64bit(), addends = section.type == SHT_RELA;
  size_t word = wide ? 8 : 4;
  size_t size = word * (addends ? 3 : 2);
  Bytes content = file.content(section);
  auto word_at = [&](size_t at) {
    return wide ? load<uint64_t>(&content[at], file.order())
                : uint64_t{load<uint32_t>(&content[at], file.order())};
  };
  for (uint64_t i = first; i < content.size() / size; ++i) {
    size_t at = static_cast<size_t>(i) * size;
    uint64_t info = word_at(at + word);
    visit(ElfRelocation{.offset = word_at(at),
                        .addend = addends ? word_at(at + 2 * word) : 0,
                        .symbol = static_cast<uint32_t>(wide ? info >> 32 : info >> 8),
                        .type = static_cast<uint32_t>(wide ? info & 0xffffffff : info & 0xff)});
  }
}

}  // namespace sonde
