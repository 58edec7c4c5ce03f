// UnitOutline: what stands at the top of a unit: its functions with code, its variables with an
// address, and which namespaces and classes its types are in. One pass, which does not look into
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
    bool is_thread_local;  // the address is an offset in the block of its thread
  };

  std::vector<Function> functions;  // by address
  std::vector<Static> statics;
  std::vector<std::pair<uint64_t, uint32_t>> scopes;  // of types: entry, in `scope_names`; by entry
  std::vector<std::string> scope_names;

  static UnitOutline read(const DwarfUnit& unit);
  /// "std::chrono" of a type in it; empty where it is in none.
  [[nodiscard]] std::string_view scope_of(uint64_t entry) const;
  /// The entry of the function with code at an address; 0 where there is none.
  [[nodiscard]] uint64_t function_at(uint64_t address) const;
};

}  // namespace sonde
