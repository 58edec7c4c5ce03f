// Sections compressed by the linker or objcopy (SHF_COMPRESSED; gABI, "Compression"). Input is
// untrusted: the size that a header promises comes from the allowance (base/expansion_allowance.h).
#pragma once

#include <vector>

#include "base/error.h"
#include "elf/elf_file.h"

namespace sonde {

/// The section's uncompressed bytes (zlib or zstd).
Result<std::vector<std::byte>> expanded_content(const ElfFile& file, const ElfSection& section);
/// The same for the older .zdebug_* sections: "ZLIB", the size, the bytes.
Result<std::vector<std::byte>> expanded_gnu_content(const ElfFile& file, const ElfSection& section);

}  // namespace sonde
