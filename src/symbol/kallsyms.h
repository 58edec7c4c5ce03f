// Kallsyms: the kernel's own list of its symbols, from /proc/kallsyms or a copy of it (the build-id
// cache, --kallsyms).
//
//   ffffffff81000000 T _text
//   ffffffffc0a01000 t nfsd_init	[nfsd]
//
// The text is read once, from a copy by mapping it, and its names are used in place. All 112,000
// lines as a table take 4 ms and 8 MB; who needs the symbols of a few addresses gets them from one
// walk over the lines (parse_around), in 1.5 ms:
//
//   Kallsyms kernel = TRY(Kallsyms::open(path));
//   kernel.parse_around(addresses);
//   kernel.table().find(addresses[0]) …
#pragma once

#include <cstdint>
#include <memory>
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
  /// The whole list.
  static Result<Kallsyms> read(const std::string& path);
  static Kallsyms parse(std::string text);
  /// Only the text: no symbol is in the table yet.
  static Result<Kallsyms> open(const std::string& path);
  void parse_all();
  /// The table gets the symbols that contain one of these addresses (in any order), just as the
  /// whole table has them, and no other.
  void parse_around(std::span<const uint64_t> addresses);
  /// Whether `part` stands in the text.
  [[nodiscard]] bool may_name(std::string_view part) const;
  /// At the most, by the length of the text.
  [[nodiscard]] size_t most_symbols() const { return text_.size() / kShortestLine; }

  /// Symbols of the kernel and of all modules, at kernel addresses. Each Symbol::module is an index
  /// into modules(). Names are valid as long as this object.
  [[nodiscard]] const SymbolTable& table() const { return table_; }
  /// The table for another owner.
  [[nodiscard]] SymbolTable take_table() { return std::move(table_); }
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
  static constexpr size_t kShortestLine = 6;  // "0 T a\n"
  void finish(SymbolTableBuilder builder);

  SymbolTable table_;
  std::unique_ptr<NameStorage> storage_;
  std::string_view text_;
  std::vector<std::string> modules_;
  bool restricted_ = false;
  uint64_t bad_lines_ = 0;
};

}  // namespace sonde
