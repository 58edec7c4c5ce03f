// The ELF image of one piece of generated code, laid out as perf's `inject -j` does: what other
// tools need to show its name, its lines and its call frames.
//
//   0x80  .text  .eh_frame  .eh_frame_hdr     loaded at their file offsets
//         .symtab .strtab .shstrtab .note.gnu.build-id .debug_line .debug_info .debug_abbrev
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "symbol/jit_dump.h"

namespace sonde {

/// The start of the code, both in the file and in the image's address space.
inline constexpr uint64_t kJitImageText = 0x80;

struct JitImage {
  std::vector<std::byte> bytes;
  std::string build_id;  // raw; of the content
};

/// Only for 64-bit dumps in this machine's byte order; other images are of no use here.
JitImage make_jit_image(const JitDump& dump, const JitDump::Code& code);

}  // namespace sonde
