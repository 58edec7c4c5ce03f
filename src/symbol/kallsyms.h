// Kallsyms: the kernel's own list of its symbols, from /proc/kallsyms or a copy of it (the build-id
// cache, --kallsyms).
//
//   ffffffff81000000 T _text
//   ffffffffc0a01000 t nfsd_init	[nfsd]
//
// The whole text is read once, from a copy by mapping it, and its names are used in place: 120,000
// lines take a few milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "symbol/symbol_table.h"

namespace sonde {

class Kallsyms {
 public:
  static Result<Kallsyms> read(const std::string& path);
  static Kallsyms parse(std::string text);

  /// Symbols of the kernel and of all modules, at kernel addresses. Each Symbol::module is an index
  /// into modules().
  [[nodiscard]] const SymbolTable& table() const { return table_; }
  /// "[kernel.kallsyms]" at 0, then "[nfsd]", "[bpf]" … in the order of their first symbol.
  [[nodiscard]] std::span<const std::string> modules() const { return modules_; }
  [[nodiscard]] std::string_view module_of(const Symbol& symbol) const {
    return modules_[symbol.module];
  }
  /// Every address was zero: kernel.kptr_restrict hides them from this user. The table is then
  /// empty.
  [[nodiscard]] bool restricted() const { return restricted_; }
  /// The address of a symbol of any type (also those that the table leaves out), e.g. "_stext",
  /// "_text", "_etext".
  [[nodiscard]] std::optional<uint64_t> address_of(std::string_view name) const;
  /// Lines that were not of the form above.
  [[nodiscard]] uint64_t bad_lines() const { return bad_lines_; }

 private:
  /// The text stands in what the builder keeps.
  static Kallsyms parse(std::string_view text, SymbolTableBuilder builder);

  SymbolTable table_;
  std::string_view text_;  // in the table's storage; empty where addresses are hidden
  std::vector<std::string> modules_;
  bool restricted_ = false;
  uint64_t bad_lines_ = 0;
};

}  // namespace sonde
