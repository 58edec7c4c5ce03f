// Names for the addresses that instructions refer to, as objdump chooses them: the nearest symbol
// at or before an address, of any section; of several at one address functions before data, global
// before local, larger before smaller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "annotate/function_code.h"

namespace sonde::annotate {

struct CodeName {
  std::string symbol;     // as it is shown
  uint64_t address = 0;   // of the symbol
  bool is_known = false;  // false: the object has no symbols
  /// "table+0x8", "table-0x10"; empty where no symbol is known.
  [[nodiscard]] std::string text(uint64_t target) const;
};

class CodeNames {
 public:
  struct Label {
    uint64_t address;
    std::string name;
  };

  /// Looks the names of all `targets` up, in one pass over the symbols. `demangle`: names as their
  /// authors wrote them, with parameters.
  CodeNames(const CodeObject& object, std::vector<uint64_t> targets, bool demangle);

  /// `target` must be one of those that were asked for.
  [[nodiscard]] const CodeName& of(uint64_t target) const;
  /// Symbols inside [start, end), by address, one for each.
  static std::vector<Label> labels(const CodeObject& object, uint64_t start, uint64_t end,
                                   bool demangle);

 private:
  std::vector<uint64_t> targets_;  // sorted
  std::vector<CodeName> names_;
};

}  // namespace sonde::annotate
