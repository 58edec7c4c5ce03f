// SDT probes: the locations that <sys/sdt.h> (SystemTap's, also DTrace's macros) marks in a
// program, described by notes of owner "stapsdt" in .note.stapsdt. The probe itself is a nop at
// `location`; the arguments are given as assembler operands, "-4@%ebx 8@112(%rsp)" (SystemTap wiki,
// "UserSpaceProbeImplementation").
#pragma once

#include <string_view>
#include <vector>

#include "elf/elf_file.h"

namespace sonde {

/// Views of the file's bytes.
struct SdtNote {
  std::string_view provider;
  std::string_view name;
  std::string_view arguments;  // as the compiler wrote them; may be empty
  ElfAddr location;
  ElfAddr semaphore;  // a 16-bit counter, incremented while somebody listens; 0: none
};

/// All notes in file order. Addresses are corrected for prelinking: each note says where
/// .stapsdt.base was when it was created. Damaged notes are left out, and those beyond 65,536.
[[nodiscard]] std::vector<SdtNote> sdt_notes(const ElfFile& file);

}  // namespace sonde
