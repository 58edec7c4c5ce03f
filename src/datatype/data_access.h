// What memory an instruction touches: a place inside a type, or why that is unknown.
#pragma once

#include <cstdint>
#include <string_view>

#include "dwarf/data_types.h"

namespace sonde::datatype {

enum class AccessKind : uint8_t {
  kData,      // `offset` bytes into `type`
  kStack,     // registers saved and restored: push, pop, call, ret, spills
  kCanary,    // the stack protector's value
  kNoMemory,  // the instruction does not access memory
  kNoCode,    // there is no symbol, or no code for it
  kNoDebugInfo,
  kNoVariable,  // the content of its registers is unknown
  kNoType,      // a pointer to void, or to a type whose members are unknown
  kBadOffset,   // outside of the pointer's type, or an index may lead anywhere in it
};
inline constexpr size_t kAccessKinds = static_cast<size_t>(AccessKind::kBadOffset) + 1;
/// "no variable is known for the address": for counts of what is missing.
[[nodiscard]] std::string_view describe(AccessKind kind);

struct DataAccess {
  AccessKind kind = AccessKind::kNoCode;
  uint32_t size = 0;  // bytes; 0: unknown
  DataTypeId type;
  uint64_t offset = 0;
};

}  // namespace sonde::datatype
