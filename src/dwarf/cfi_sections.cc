#include "dwarf/cfi_sections.h"

#include <elf.h>

#include <algorithm>

#include "elf/compressed_section.h"

namespace sonde {

CfiSections::CfiSections(const ElfFile& object, const ElfFile* debug,
                         std::optional<uint64_t> only_at)
    : only_at_(only_at) {
  read(object, ".eh_frame", CfiSection::Kind::kEhFrame);
  read(object, ".debug_frame", CfiSection::Kind::kDebugFrame);
  if (debug != nullptr) read(*debug, ".debug_frame", CfiSection::Kind::kDebugFrame);
}

void CfiSections::read(const ElfFile& file, std::string_view name, CfiSection::Kind kind) {
  const ElfSection* section = file.section(name);
  if (section == nullptr || section->type == SHT_NOBITS) return;
  Bytes bytes = file.content(*section);
  if ((section->flags & SHF_COMPRESSED) != 0) {
    auto content = expanded_content(file, *section);
    if (!content) return;
    bytes = expanded_.emplace_back(std::move(*content));
  }
  sections_.push_back(CfiSection::read({bytes, section->addr, kind, file.order(),
                                        static_cast<uint8_t>(file.is_64bit() ? 8 : 4), only_at_}));
}

std::vector<FunctionRange> CfiSections::functions() const {
  std::vector<FunctionRange> found;
  for (const CfiSection& section : sections_) {
    found.reserve(found.size() + section.entries.size());
    for (const CfiEntry& entry : section.entries) found.push_back({entry.start, entry.end});
  }
  // If two entries begin at one address, the section that comes first wins.
  if (!std::ranges::is_sorted(found, {}, &FunctionRange::start))
    std::ranges::stable_sort(found, {}, &FunctionRange::start);
  auto repeated = std::ranges::unique(found, {}, &FunctionRange::start);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

}  // namespace sonde
