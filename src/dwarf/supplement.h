// The file into which dwz put what the debug information of several files has in common
// (.gnu_debugaltlink: a path and a build id; GNU extension, DWARF 5's .debug_sup is its heir).
#pragma once

#include <memory>

#include "dwarf/dwarf_file.h"
#include "dwarf/line_index.h"

namespace sonde {

/// Null where `elf` names none, or where the named one is not here or is another build.
std::unique_ptr<DwarfFile> find_supplement(const ElfFile& elf, const DwarfPlaces& places);

}  // namespace sonde
