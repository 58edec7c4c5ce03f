// The file into which dwz moved the debug information that several files share (.gnu_debugaltlink:
// a path and a build id; a GNU extension that became DWARF 5's .debug_sup).
#pragma once

#include <memory>

#include "dwarf/dwarf_file.h"
#include "dwarf/line_index.h"

namespace sonde {

/// Null if `elf` names none, or if the named one is missing or has another build id.
std::unique_ptr<DwarfFile> find_supplement(const ElfFile& elf, const DwarfLocations& places);

}  // namespace sonde
