// RelocatableFile: an object file before linking, or a kernel module (ET_REL), as if it had been
// loaded: allocated sections are assigned addresses, and references to them can be applied to the
// bytes of code and of debug information.
//
//   RelocatableFile module(file);
//   std::vector<std::byte> info = …;         // of .debug_info
//   module.apply(*file.section(".debug_info"), info);
//
// The addresses are made up, but are the same for all files made from one: stripped, or with only
// the debug information.
#pragma once

#include <cstdint>
#include <vector>

#include "elf/elf_file.h"

namespace sonde {

class RelocatableFile {
 public:
  /// Reads the symbols; the file must outlive this object.
  explicit RelocatableFile(const ElfFile& file);

  /// The address of a section; 0 for those that are not loaded.
  [[nodiscard]] uint64_t address_of(const ElfSection& section) const;
  /// The address of a symbol; kUndefined for those defined in other objects.
  [[nodiscard]] uint64_t address_of(const ElfSymbol& symbol) const;
  /// Applies the relocations of `section` to a copy of its bytes. Unknown kinds, and those outside
  /// the section, change nothing. x86 and arm64.
  void apply(const ElfSection& section, std::vector<std::byte>& bytes) const;

  /// Below everything that is loaded, so that nothing is found there.
  static constexpr uint64_t kUndefined = 0x1000;

 private:
  void find_lists();

  const ElfFile& file_;
  std::vector<uint64_t> sections_;        // by index
  std::vector<uint64_t> symbols_;         // likewise
  std::vector<const ElfSection*> lists_;  // relocation lists, by index of the section they apply to
};

}  // namespace sonde
