// The vdso that the kernel mapped into this process: the same for all processes of one word size
// during a boot.
#pragma once

#include "base/error.h"
#include "elf/elf_file.h"

namespace sonde {

/// A copy of it. kNotFound if the kernel provides none.
Result<ElfFile> own_vdso();

}  // namespace sonde
