// Where a variable is: its location expressions and lists (DWARF 5, sections 2.5 and 2.6), as far
// as static analysis of the code can use them.
//
//   DW_OP_reg5                             the variable is in register 5
//   DW_OP_breg3 16; DW_OP_stack_value      register 3 plus 16 is its value
//   DW_OP_fbreg -40                        it lies 40 bytes below the frame's base
//   DW_OP_reg0; DW_OP_piece 8; DW_OP_reg1  its first eight bytes are in register 0, the rest in 1
//
// Values of callers' registers, constants and anything else that is computed are left out.
#pragma once

#include <cstdint>
#include <vector>

#include "dwarf/dwarf_file.h"

namespace sonde {

struct VariablePiece {
  enum class Kind : uint8_t {
    kValue,        // register `reg` + `offset` is the value
    kMemory,       // in memory at register `reg` + `offset`
    kFrameValue,   // the frame base + `offset` is the value
    kFrameMemory,  // in memory at the frame base + `offset`
    kStatic,       // at address `offset`
    kThread,       // `offset` bytes into the object's thread-local storage block
  };
  Kind kind = Kind::kValue;
  uint8_t reg = 0;  // by the architecture's DWARF numbers
  int64_t offset = 0;
  uint64_t begin = 0;  // of the piece inside the variable
  uint64_t size = 0;   // 0: all of it
};

/// Appends the usable pieces.
void read_pieces(const DwarfUnit& unit, Bytes expression, std::vector<VariablePiece>& out);

/// An expression, and the code range for which it holds.
struct PlacedExpression {
  uint64_t low = 0, high = UINT64_MAX;
  Bytes expression;
};

/// Appends what DW_AT_location says; at most `limit` elements of a list.
void read_places(const DwarfUnit& unit, const DwarfValue& location, size_t limit,
                 std::vector<PlacedExpression>& out);

}  // namespace sonde
