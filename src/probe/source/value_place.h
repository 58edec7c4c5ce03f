// ValuePlace: where a variable's value is at one address, as far as a probe can fetch it: in a
// register, in memory that a chain of pointers from a register or an address leads to, or known.
//
//   DW_OP_fbreg -40             memory at %bp-24 (where the frame base is %bp+16)
//   DW_OP_breg5 8; DW_OP_deref  memory at *(%di+8)
//   DW_OP_lit4; DW_OP_stack_value    4
//
// It keeps apart what variable_location.h leaves out for static analysis: constants, and values of
// the caller's registers, which are those of this moment when the function has just been entered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dwarf/unit_code.h"
#include "probe/source/frame_base.h"

namespace sonde {

struct ValuePlace {
  enum class Kind : uint8_t {
    kRegister,     // the value is in `reg`
    kMemory,       // at `reg` + offsets[0]; each further offset follows a pointer
    kStatic,       // at address offsets[0], likewise
    kConstant,     // offsets[0]
    kAddressOf,    // the value is address offsets[0] of the object, wherever that is loaded
    kNone,         // nowhere at this address
    kUnsupported,  // somewhere, but `reason`
  };
  Kind kind = Kind::kNone;
  uint64_t reg = 0;
  std::vector<int64_t> offsets = {};
  std::string reason = {};  // "it is split between registers"
  /// Whether its first operation names a register, a place in the frame or an address.
  bool begins_plainly = false;
  bool is_attribute = false;  // a constant that is said to be one: DW_AT_const_value
};

struct PlaceContext {
  uint64_t address = 0;                // of the probe
  uint64_t entry = 0;                  // of the function
  std::optional<RegisterOffset> base;  // the frame base
};

/// The frame base of a function at an address.
[[nodiscard]] std::optional<RegisterOffset> frame_base_of(DwarfEntry function, uint64_t address,
                                                          const ElfFile* object,
                                                          const ElfFile& debug);

/// Where `variable`, an entry, is.
[[nodiscard]] ValuePlace place_of(DwarfEntry variable, const PlaceContext& context);

}  // namespace sonde
