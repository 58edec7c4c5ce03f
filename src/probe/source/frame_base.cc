#include "probe/source/frame_base.h"

#include <elf.h>

#include "dwarf/cfi_program.h"
#include "dwarf/cfi_sections.h"

namespace sonde {

std::optional<RegisterOffset> cfa_at(const ElfFile* object, const ElfFile& debug,
                                     uint64_t address) {
  const ElfFile& own = object != nullptr ? *object : debug;
  bool is_separate = object != nullptr && object->name() != debug.name();
  CfiSections sections(own, is_separate ? &debug : nullptr, address);
  for (const CfiSection& section : sections.sections())
    for (const CfiEntry& entry : section.entries) {
      if (address < entry.start || address >= entry.end) continue;
      std::optional<RegisterOffset> found;
      CfiProgram program(section.commons[entry.common], own.order(), own.machine() == EM_AARCH64);
      static_cast<void>(program.run(entry, [&](uint64_t at, const CfiState& state) {
        if (at > address) return;
        found.reset();
        if (state.cfa_from == CfaFrom::kRegister)
          found = RegisterOffset{state.cfa_register, state.cfa_offset};
      }));
      return found;
    }
  return std::nullopt;
}

}  // namespace sonde
