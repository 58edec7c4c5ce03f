// TypeFlow: types of the memory that each instruction of a function touches.
//
// Debug information tells where variables are, but optimised code loads most addresses out of
// structures, and the registers that hold them are no variables. So values are followed through the
// function, from its first instruction on and along its jumps, until nothing changes: what a load
// out of a structure gives has the type of the member, what a call gives that of the function.
// Where a variable begins to be in a register, debug information has the last word.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "datatype/data_access.h"
#include "datatype/register_values.h"
#include "disasm/operation.h"
#include "dwarf/data_index.h"

namespace sonde::datatype {

/// What the dynamic linker puts into a slot of the global offset table: an address, or where a
/// variable is in the object's block of thread-local storage.
struct LinkedSlot {
  uint64_t value = 0;
  bool of_thread = false;
};

struct FlowInput {
  Bytes code;
  uint64_t address = 0;                          // of the first byte
  const FunctionVariables* variables = nullptr;  // of the function, maybe none
  /// Variables outside of functions; their blocks of thread-local storage end here: the address of
  /// such a variable is that many bytes below the thread pointer. 0: not known.
  DataIndex* index = nullptr;
  uint64_t thread_block = 0;
  /// The register from which the CFA is counted, and how far, at an address.
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
