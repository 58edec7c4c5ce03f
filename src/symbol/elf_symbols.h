// The symbol table of an ELF object: which of its symbols count, and at which addresses.
//
// Functions, indirect functions, data objects and visible labels of text and data sections count;
// section symbols, files, ARM mapping symbols ($a $d $t $x), absolute and undefined symbols don't.
// .symtab comes first, .dynsym adds what it lacks, then .gnu_debugdata, then PLT entries, then, on
// demand, what only call frame information tells of: functions without names.
#pragma once

#include <optional>

#include "base/error.h"
#include "elf/elf_file.h"
#include "symbol/symbol_table.h"

namespace sonde {

struct ElfSymbolOptions {
  bool plt = true;               // synthesise NAME@plt
  bool mini_debug_info = true;   // also read .gnu_debugdata
  bool frame_functions = false;  // fill gaps with the functions of call frame information
  /// If no symbol's name contains this, none is read. (.gnu_debugdata is not searched for it.)
  std::string_view name_part = {};
};

/// `symbols` is the file with the symbol table, `runtime` the one that ran, if they differ
/// (separate debug files): its segments, .dynsym, .gnu_debugdata and PLT are used. The table keeps
/// both files mapped for its names. Addresses in the table are ELF addresses; in relocatable files
/// (kernel modules) they are file offsets.
SymbolTable load_elf_symbols(ElfFile symbols, std::optional<ElfFile> runtime,
                             const ElfSymbolOptions& options = {});

}  // namespace sonde
