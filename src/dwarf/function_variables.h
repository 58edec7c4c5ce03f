// FunctionVariables: the variables of one function and of those inlined into it, each with the code
// for which its location is known; and the return types of the functions that it calls.
#pragma once

#include <vector>

#include "dwarf/data_types.h"
#include "dwarf/dwarf_ranges.h"
#include "dwarf/variable_location.h"

namespace sonde {

struct PlacedVariable {
  uint64_t low = 0, high = 0;  // the code; high is exclusive
  VariablePiece piece;         // the frame base is its CFA, the stack pointer before the call
  DwarfEntry type;             // of the variable, not of the piece
  uint32_t depth = 0;          // larger for inner scopes
};

struct CallResult {
  uint64_t return_address = 0;
  DwarfEntry type;             // null: none, or unknown
  bool never_returns = false;  // the code after the call is reached from elsewhere
};

struct FunctionVariables {
  std::vector<PlacedVariable> variables;  // by the start of their code, outer ones first
  std::vector<CallResult> calls;          // by address

  /// `function` is an entry with code.
  static FunctionVariables read(DwarfEntry function);
};

/// The type of an entry, from the entry itself or what it refers to.
[[nodiscard]] DwarfEntry type_of_entry(DwarfEntry entry);

}  // namespace sonde
