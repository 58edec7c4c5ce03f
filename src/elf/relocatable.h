// RelocatableFile: an object file before it is linked, or a module of the kernel (ET_REL), as if it
// had been loaded: sections that have a place in memory get one of their own, and what refers to
// them can be put into the bytes of code and of debug information.
//
//   RelocatableFile module(file);
//   std::vector<std::byte> info = …;         // of .debug_info
//   module.apply(*file.section(".debug_info"), info);
//
// The addresses are made up, and the same for all files that were made out of one: stripped, or
// with nothing but the debug information.
#pragma once

#include <cstdint>
#include <vector>

#include "elf/elf_file.h"

namespace sonde {

class RelocatableFile {
 public:
  /// Reads the symbols; the file outlives this.
  explicit RelocatableFile(const ElfFile& file);

  /// Where a section begins; 0 of those that are not loaded.
  [[nodiscard]] uint64_t address_of(const ElfSection& section) const;
  /// Where a symbol is; kUndefined of those that other objects have.
  [[nodiscard]] uint64_t address_of(const ElfSymbol& symbol) const;
  /// Puts what the relocations of `section` say into a copy of its bytes. Kinds that are not known,
  /// and those that lie outside, change nothing. x86 and arm64.
  void apply(const ElfSection& section, std::vector<std::byte>& bytes) const;

  /// Below all that is loaded, so that nothing is found there.
  static constexpr uint64_t kUndefined = 0x1000;

 private:
  void find_lists();

  const ElfFile& file_;
  std::vector<uint64_t> sections_;        // by index
  std::vector<uint64_t> symbols_;         // likewise
  std::vector<const ElfSection*> lists_;  // of relocations, by index of the section they are for
};

}  // namespace sonde
