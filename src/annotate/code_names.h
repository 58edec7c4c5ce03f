// Names for the addresses that instructions refer to, chosen as in objdump: the nearest symbol at
// or before an address, in any section; at equal addresses functions before data, global before
// local, larger before smaller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "annotate/function_code.h"

namespace sonde::annotate {

struct CodeName {
  std::string symbol;     // as shown
  uint64_t address = 0;   // of the symbol
  bool is_known = false;  // false: the object has no symbols
  /// "table+0x8", "table-0x10"; empty if no symbol is known.
  [[nodiscard]] std::string text(uint64_t target) const;
};

class CodeNames {
 public:
  struct Label {
    uint64_t address;
    std::string name;
  };

  /// Looks up the names of all `targets` in one pass over the symbols. `demangle`: names as in the
  /// source, with parameters.
  CodeNames(const CodeObject& object, std::vector<uint64_t> targets, bool demangle);

  /// `target` must be one of those passed to the constructor.
  [[nodiscard]] const CodeName& of(uint64_t target) const;
  /// Symbols inside [start, end), by address, one per address.
  static std::vector<Label> labels(const CodeObject& object, uint64_t start, uint64_t end,
                                   bool demangle);

 private:
  std::vector<uint64_t> targets_;  // sorted
  std::vector<CodeName> names_;
};

}  // namespace sonde::annotate
