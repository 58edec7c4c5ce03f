// UnitOutline: the top level of a unit: its functions with code, its variables with an address, and
// the namespaces and classes that contain its types. Built in one pass, which does not descend into
// functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dwarf/dwarf_ranges.h"

namespace sonde {

struct UnitOutline {
  struct Function {
    CodeRange code;
    uint64_t entry;
  };
  struct Static {
    uint64_t address;
    uint64_t entry;
    bool is_thread_local;  // the address is an offset into the thread-local storage block
  };

  std::vector<Function> functions;  // by address
  std::vector<Static> statics;
  std::vector<std::pair<uint64_t, uint32_t>> scopes;  // type entry, `scope_names` index; by entry
  std::vector<std::string> scope_names;

  static UnitOutline read(const DwarfUnit& unit);
  /// "std::chrono" for a type in it; empty if it is in none.
  [[nodiscard]] std::string_view scope_of(uint64_t entry) const;
  /// The entry of the function with code at an address; 0 if there is none.
  [[nodiscard]] uint64_t function_at(uint64_t address) const;
};

}  // namespace sonde
