// Untrusted ELF files: runs everything that a report does with an object.
#include <cstddef>
#include <cstdint>

#include "elf/basic_block_map.h"
#include "elf/dynamic.h"
#include "elf/elf_file.h"
#include "elf/plt.h"
#include "elf/sdt_notes.h"
#include "fuzz/fuzz_target.h"
#include "symbol/demangle.h"
#include "symbol/elf_symbols.h"

FUZZ_TARGET(elf)(const uint8_t* data, size_t size) {
  using namespace sonde;
  Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  auto file = ElfFile::view(bytes, "fuzz");
  if (!file) return 0;
  (void)file->debug_link();
  (void)sdt_notes(*file);
  (void)dynamic_info(*file);
  (void)BasicBlockMap::read(*file);
  for (const ElfSection& section : file->sections()) (void)file->relocations(section);
  for (uint64_t at : {uint64_t{0}, uint64_t{size}, file->entry(), UINT64_MAX}) {
    (void)file->segments().addr_of(FileOffset(at));
    (void)file->segments().offset_of(ElfAddr(at));
  }
  uint64_t entry = file->entry();
  SymbolTable table = load_elf_symbols(std::move(*file), std::nullopt);
  (void)table.find(entry);
  for (const Symbol& symbol : table.symbols().first(std::min<size_t>(table.size(), 64))) {
    if (table.find(symbol.start) == nullptr) __builtin_trap();
    shown_name(symbol, false, {});
  }
  return 0;
}
