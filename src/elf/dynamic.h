// What an object asks of the dynamic linker (gABI, "Dynamic Section"): the libraries that it needs,
// and where to look for them.
#pragma once

#include <string_view>
#include <vector>

#include "elf/elf_file.h"

namespace sonde {

/// Views of the file's bytes.
struct DynamicInfo {
  std::vector<std::string_view> needed;  // DT_NEEDED: "libc.so.6"
  std::string_view run_path;             // DT_RUNPATH, or DT_RPATH: directories separated by colons
};

/// Empty for objects that are not dynamically linked; damaged entries are left out.
[[nodiscard]] DynamicInfo dynamic_info(const ElfFile& file);

}  // namespace sonde
