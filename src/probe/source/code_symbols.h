// CodeSymbols: the functions and data of an object, a module or the kernel by name, every alias
// included: a probe may be put on any of a function's names. (SymbolTable keeps one per address.)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "elf/elf_file.h"

namespace sonde {

struct CodeSymbol {
  std::string_view name;
  uint64_t address = 0;  // as DWARF has it (ELF address); of the running kernel, where it is
  uint64_t size = 0;     // 0: up to the next symbol
  bool is_function = false;
  bool is_indirect = false;  // STT_GNU_IFUNC: its code only selects an implementation
  bool is_global = false;
  bool is_in_text = true;   // in the section .text, not in .init.text and the like
  bool is_dynamic = false;  // of .dynsym, which has no version in the name
};

class CodeSymbols {
 public:
  CodeSymbols() = default;
  /// Of both symbol tables. The names are views of the file.
  static CodeSymbols read(const ElfFile& file);
  /// Only the symbols that may be around an address: reading all takes longer.
  static CodeSymbols read_around(const ElfFile& file, uint64_t address);
  /// Of /proc/kallsyms, or a copy: those of the kernel if `module` is empty, else of the module.
  static CodeSymbols parse_kallsyms(std::string text, std::string_view module);

  /// Adds those at addresses that have none yet, and further names.
  void add(const CodeSymbols& more);

  [[nodiscard]] bool empty() const { return symbols_.empty(); }
  /// By address, then in the source's order.
  [[nodiscard]] const std::vector<CodeSymbol>& all() const { return sorted(); }
  /// In any order: sorting takes as long as reading.
  [[nodiscard]] std::span<const CodeSymbol> unordered() const { return symbols_; }
  /// Functions whose name matches a name or glob, each address once. A name also selects versions
  /// of it: "memcpy" is "memcpy@GLIBC_2.2.5", too.
  [[nodiscard]] std::vector<const CodeSymbol*> functions(std::string_view pattern) const;
  /// The function around an address; null if there is none.
  [[nodiscard]] const CodeSymbol* function_at(uint64_t address) const;
  /// The symbol of any kind that begins at an address, a global one if there is one; or null.
  [[nodiscard]] const CodeSymbol* at(uint64_t address) const;
  /// The end of a symbol: its size, or where the next one begins.
  [[nodiscard]] uint64_t end_of(const CodeSymbol& symbol) const;
  /// Whether more than one address has that name.
  [[nodiscard]] bool is_ambiguous(std::string_view name) const;
  /// The address of a symbol of any kind; 0 if there is none.
  [[nodiscard]] uint64_t address_of(std::string_view name) const;

 private:
  template <typename Wanted>
  static CodeSymbols read(const ElfFile& file, const Wanted& is_wanted);
  const std::vector<CodeSymbol>& sorted() const;

  mutable std::vector<CodeSymbol> symbols_;
  mutable bool is_sorted_ = true;
  std::string text_;
};

}  // namespace sonde
