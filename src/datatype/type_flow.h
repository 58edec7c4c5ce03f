// TypeFlow: the types of the memory that each instruction of a function touches.
//
// Debug information says where variables are, but optimised code loads most addresses from
// structures, and the registers that hold them are not variables. So values are propagated through
// the function, from its first instruction on and along its jumps, to a fixed point: a load from a
// structure yields the member's type, a call the function's return type. Where a variable's
// register range begins, debug information takes precedence.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "datatype/data_access.h"
#include "datatype/register_values.h"
#include "disasm/operation.h"
#include "dwarf/data_index.h"

namespace sonde::datatype {

/// What the dynamic linker puts into a slot of the global offset table: an address, or the offset
/// of a variable in the object's thread-local storage block.
struct LinkedSlot {
  uint64_t value = 0;
  bool of_thread = false;
};

struct FlowInput {
  Bytes code;
  uint64_t address = 0;                          // of the first byte
  const FunctionVariables* variables = nullptr;  // of the function; may be null
  /// Variables outside of functions. `thread_block` is the end of the thread-local storage block:
  /// the address of such a variable is that many bytes below the thread pointer. 0: unknown.
  DataIndex* index = nullptr;
  uint64_t thread_block = 0;
  /// The register from which the CFA is computed at an address, and the offset.
  std::function<std::optional<std::pair<uint8_t, int64_t>>(uint64_t)> frame_at;
  std::function<std::optional<LinkedSlot>(uint64_t)> linked_at;  // by the slot's address
};

/// One access per instruction, by its address.
struct TypedInstruction {
  uint64_t address = 0;
  DataAccess access;
};

[[nodiscard]] std::vector<TypedInstruction> follow_types(const FlowInput& input,
                                                         const disasm::OperationDecoder& decoder);

}  // namespace sonde::datatype
