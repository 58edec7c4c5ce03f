// PLT entries: the small trampolines through which an object calls functions of others. They have
// no symbols; the relocation of the slot that an entry jumps through identifies the function
// ("malloc@plt").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "elf/elf_file.h"

namespace sonde {

struct PltEntry {
  ElfAddr start;
  uint64_t size = 0;
  const char* name = "";  // the function's name without "@plt"; lives as long as the ElfFile
  uint64_t resolver = 0;  // of a function without a name: the address of what chooses it
};

/// Entries of .plt, .plt.sec and .plt.got, in address order. On x86-64 and arm64 an entry's jump is
/// decoded and its slot looked up among the relocations; elsewhere entries are assumed to be in the
/// order of .rel[a].plt.
std::vector<PltEntry> plt_entries(const ElfFile& file);

}  // namespace sonde
