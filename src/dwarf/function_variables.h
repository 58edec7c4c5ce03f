// FunctionVariables: the variables of one function and of what was inlined into it, each with the
// code for which it is known where it is; and what the functions that it calls give back.
#pragma once

#include <vector>

#include "dwarf/data_types.h"
#include "dwarf/dwarf_ranges.h"
#include "dwarf/variable_place.h"

namespace sonde {

struct PlacedVariable {
  uint64_t low = 0, high = 0;  // the code; high is exclusive
  VariablePiece piece;         // a frame's base is its CFA, the stack pointer before the call
  DwarfEntry type;             // of the variable, not of the piece
  uint32_t depth = 0;          // inner ones have larger numbers
};

struct CallResult {
  uint64_t return_address = 0;
  DwarfEntry type;             // nowhere: none, or not known
  bool never_returns = false;  // what stands behind the call is reached from elsewhere
};

struct FunctionVariables {
  std::vector<PlacedVariable> variables;  // by the start of their code, outer ones first
  std::vector<CallResult> calls;          // by address

  /// `function` is an entry with code.
  static FunctionVariables read(DwarfEntry function);
};

/// What an entry says of its type, itself or by what it refers to.
[[nodiscard]] DwarfEntry type_of_entry(DwarfEntry entry);

}  // namespace sonde
