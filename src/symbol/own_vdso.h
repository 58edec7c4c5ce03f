// The vdso that the kernel mapped into this process: the same for all processes of a word size on
// one boot.
#pragma once

#include "base/error.h"
#include "elf/elf_file.h"

namespace sonde {

/// A copy of it. kNotFound where the kernel gives none.
Result<ElfFile> own_vdso();

}  // namespace sonde
