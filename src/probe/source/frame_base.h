// The frame of a function at one address: where its canonical frame address (CFA) is.
#pragma once

#include <cstdint>
#include <optional>

#include "dwarf/dwarf_file.h"
#include "elf/elf_file.h"

namespace sonde {

/// register + offset, by DWARF's number of the register.
struct RegisterOffset {
  uint64_t reg = 0;
  int64_t offset = 0;
};

/// The CFA by call frame information of the object or its debug file (may be null); nullopt if none
/// covers the address, or if it is computed in another way.
[[nodiscard]] std::optional<RegisterOffset> cfa_at(const ElfFile* object, const ElfFile& debug,
                                                   uint64_t address);

}  // namespace sonde
