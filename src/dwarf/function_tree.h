// FunctionTree: the function, and the functions inlined into it, that cover each address of one
// unit.
//
//   main         [0x10 ......................... 0x50)
//     helper            [0x18 ......... 0x30)             inlined, called at main.c:12
//       max                  [0x20 0x24)                  inlined, called at helper.h:3
//
// The tree is flattened into boundaries at which the innermost function changes, so a lookup is one
// binary search, and into arrays that can be stored in a file.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dwarf/dwarf_file.h"
#include "dwarf/nested_ranges.h"
#include "dwarf/packed_table.h"
#include "dwarf/source_file.h"

namespace sonde {

class FunctionTree {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Function {
    uint32_t name = 0;           // in the strings
    uint32_t call_file = kNone;  // file of the inlined call; kNone if not inlined
    uint32_t call_line = 0;
    uint32_t parent = kNone;  // the function that it was inlined into
    uint32_t inlined = 0;
  };

  FunctionTree() = default;
  /// `files` is the unit whose line program names the files of calls: the skeleton of a split unit,
  /// else the unit itself.
  static FunctionTree read(const DwarfUnit& unit, const DwarfUnit& files);
  /// As LineTable::view.
  static FunctionTree view(Bytes bytes);
  [[nodiscard]] Bytes bytes() const { return own_; }

  /// The innermost function at `addr`, or kNone.
  [[nodiscard]] uint32_t find(uint64_t addr) const;
  /// Accepts any index; returns an empty function if it is out of range.
  [[nodiscard]] Function function(uint32_t index) const {
    return index < functions_.size() ? functions_[index] : Function();
  }
  /// As FunctionNames::of.
  [[nodiscard]] std::string_view name(const Function& function) const {
    return StringHeap::at(strings_, function.name);
  }
  [[nodiscard]] SourceFile call_file(const Function& function) const {
    return FileHeap::at(files_, strings_, function.call_file);
  }

 private:
  std::vector<std::byte> own_;
  std::span<const Function> functions_;  // parents before their children
  std::span<const RangeBoundary> boundaries_;
  std::span<const PackedFile> files_;
  std::span<const char> strings_;
};

}  // namespace sonde
