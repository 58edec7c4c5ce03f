// PlaceTypes: which variable is where, at an address of one function.
#pragma once

#include <vector>

#include "datatype/register_values.h"
#include "dwarf/data_index.h"

namespace sonde::datatype {

/// A type, and an offset into it.
struct TypedPlace {
  DataTypeId type;
  int64_t offset = 0;
};

class PlaceTypes {
 public:
  /// `variables` may be null.
  PlaceTypes(DataIndex& index, const FunctionVariables* variables);

  /// Applies what debug information says registers hold at `address`; `started_after`: only ranges
  /// that begin after that address.
  void apply(uint64_t address, uint64_t started_after, RegisterValues& values) const;
  /// The variable in memory at a register plus a displacement.
  [[nodiscard]] std::optional<TypedPlace> at_register(uint64_t address, uint8_t reg,
                                                      int64_t displacement) const;
  /// The variable at an offset from the CFA.
  [[nodiscard]] std::optional<TypedPlace> in_frame(uint64_t address, int64_t offset) const;
  /// The variable at a data address.
  [[nodiscard]] std::optional<TypedPlace> at_static(uint64_t address, uint64_t data_address) const;

 private:
  struct Held {  // in a register
    uint64_t low, high;
    uint8_t reg;
    Value value;
  };
  struct Stored {  // in memory
    uint64_t low, high;
    VariablePiece::Kind kind;
    uint8_t reg;
    int64_t begin;
    uint64_t size;
    DataTypeId type;
    int64_t type_offset;
    size_t order;  // larger for inner and later ones
  };
  void add(const PlacedVariable& variable);
  /// Whether both can be in one register, and `part` points to a member of what `whole` points to.
  [[nodiscard]] bool is_part_of(const Value& part, const Value& whole) const;
  [[nodiscard]] std::optional<TypedPlace> stored(uint64_t address, VariablePiece::Kind kind,
                                                 uint8_t reg, int64_t offset) const;

  DataIndex& index_;
  std::vector<Held> held_;          // by low, outer ones first
  std::vector<uint64_t> furthest_;  // the highest end of held_[0 … i]
  std::vector<Stored> stored_;      // by kind, register and begin
  uint64_t largest_ = 0;            // maximum size
};

}  // namespace sonde::datatype
