// Kallsyms: the kernel's own list of its symbols, from /proc/kallsyms or a copy of it (the build-id
// cache, --kallsyms).
//
//   ffffffff81000000 T _text
//   ffffffffc0a01000 t nfsd_init	[nfsd]
//
// The text is read once (copies are mapped), and its names are used in place. A table of all
// 112,000 lines takes 4 ms and 8 MB; callers that need the symbols of a few addresses get them from
// one walk over the lines (parse_around), in 1.5 ms:
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
  /// Only the text: the table has no symbols yet.
  static Result<Kallsyms> open(const std::string& path);
  /// The same for a path that the user names: it may be a pipe.
  static Result<Kallsyms> open_named(const std::string& path);
  void parse_all();
  /// Fills the table with exactly those symbols that contain one of these addresses (in any order),
  /// identical to those of the full table.
  void parse_around(std::span<const uint64_t> addresses);
  /// Whether the text contains `part`.
  [[nodiscard]] bool may_name(std::string_view part) const;
  /// An upper bound, from the length of the text.
  [[nodiscard]] size_t most_symbols() const { return text_.size() / kMinLineLength; }

  /// Symbols of the kernel and of all modules, at kernel addresses. Each Symbol::module is an index
  /// into modules(). Names are valid as long as this object.
  [[nodiscard]] const SymbolTable& table() const { return table_; }
  /// Moves the table out.
  [[nodiscard]] SymbolTable take_table() { return std::move(table_); }
  /// "[kernel.kallsyms]" at 0, then "[nfsd]", "[bpf]" … in the order of their first symbol.
  [[nodiscard]] std::span<const std::string> modules() const { return modules_; }
  [[nodiscard]] std::string_view module_of(const Symbol& symbol) const {
    return modules_[symbol.module];
  }
  /// Every address was zero: kernel.kptr_restrict hides them from this user. The table is then
  /// empty.
  [[nodiscard]] bool restricted() const { return restricted_; }
  /// The address of a symbol of any type (also those not in the table), e.g. "_stext", "_text",
  /// "_etext".
  [[nodiscard]] std::optional<uint64_t> address_of(std::string_view name) const;
  /// The number of malformed lines.
  [[nodiscard]] uint64_t bad_lines() const { return bad_lines_; }

 private:
  static constexpr size_t kMinLineLength = 6;  // "0 T a\n"
  static Kallsyms of_text(std::string text);
  void finish(SymbolTableBuilder builder);

  SymbolTable table_;
  std::unique_ptr<NameStorage> storage_;
  std::string_view text_;
  std::vector<std::string> modules_;
  bool restricted_ = false;
  uint64_t bad_lines_ = 0;
};

}  // namespace sonde
