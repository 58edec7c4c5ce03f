// Sections that the linker or objcopy compressed (SHF_COMPRESSED; gABI, "Compression"). Input is
// untrusted: what a header promises is checked against what its bytes can hold.
#pragma once

#include <vector>

#include "base/error.h"
#include "elf/elf_file.h"

namespace sonde {

/// The section's bytes as they were before they were compressed, by zlib or zstd.
Result<std::vector<std::byte>> expanded_content(const ElfFile& file, const ElfSection& section);
/// The same of a .zdebug_* section, which is how it was done before: "ZLIB", the size, the bytes.
Result<std::vector<std::byte>> expanded_gnu_content(const ElfFile& file, const ElfSection& section);

}  // namespace sonde
