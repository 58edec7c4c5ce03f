// FunctionTree: which function, and which functions inlined into it, cover each address of one
// unit.
//
//   main         [0x10 ......................... 0x50)
//     helper            [0x18 ......... 0x30)             inlined, called at main.c:12
//       max                  [0x20 0x24)                  inlined, called at helper.h:3
//
// The tree is flattened into boundaries at which the innermost function changes, so a lookup is one
// binary search.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace sonde {

class FunctionTree {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Function {
    std::string_view name;       // linkage name, else plain name
    std::string_view call_file;  // where it was inlined to; empty for functions that were not
    uint32_t call_line = 0;
    uint32_t parent = kNone;  // the function that it was inlined into
    bool inlined = false;
  };

  /// Names live as long as libdw's Dwarf.
  static FunctionTree read(Dwarf_Die& unit);

  /// The innermost function at `addr`, or kNone.
  [[nodiscard]] uint32_t find(uint64_t addr) const;
  [[nodiscard]] const Function& function(uint32_t index) const { return functions_[index]; }

 private:
  struct Range {
    uint64_t low;
    uint64_t high;
    uint32_t function;  // deeper functions have larger numbers than those around them
  };
  struct Boundary {
    uint64_t addr;
    uint32_t function;
  };

  void walk(Dwarf_Die& parent, Dwarf_Files* files, uint32_t around, int depth,
            std::vector<Range>& ranges);
  uint32_t add(Dwarf_Die& die, Dwarf_Files* files, uint32_t around, bool inlined,
               std::vector<Range>& ranges);
  void flatten(std::vector<Range>& ranges);

  std::vector<Function> functions_;
  std::vector<Boundary> boundaries_;
};

}  // namespace sonde
