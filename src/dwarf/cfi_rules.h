// What call frame information says about a range of code: how to get from a frame to its caller.
//
//   push %rbp                 CFA = rsp+8     ra at CFA-8
//   mov  %rsp,%rbp            CFA = rsp+16    ra at CFA-8   rbp at CFA-16
//   …                         CFA = rbp+16    ra at CFA-8   rbp at CFA-16
//
// The CFA (canonical frame address) is the caller's stack pointer before its call. Register numbers
// are DWARF's for the object's architecture (DWARF 5, section 6.4; the x86-64 psABI, figure 3.36;
// DWARF for the Arm 64-bit Architecture, section 4.1).
#pragma once

#include <cstdint>

namespace sonde {

/// How the caller's value of a register is found.
enum class SavedAs : uint8_t {
  kSame,             // unchanged
  kUndefined,        // lost; for the return address: there is no caller
  kAtCfa,            // in memory at CFA + value
  kCfaPlus,          // CFA + value itself
  kInRegister,       // in register `value`
  kExpression,       // in memory at the address that expression `value` yields
  kValueExpression,  // the result of expression `value` itself
};

struct SavedRegister {
  uint8_t reg = 0;
  SavedAs how = SavedAs::kSame;
  int32_t value = 0;
  bool operator==(const SavedRegister&) const = default;
};

/// How the frame's own CFA is found.
enum class CfaFrom : uint8_t {
  kNothing,     // nothing is known about this code
  kRegister,    // cfa_register + cfa_value
  kExpression,  // the result of expression `cfa_value`
};

/// The saved registers are a range of the table's list: see CfiTable::saved.
struct UnwindRule {
  CfaFrom cfa_from = CfaFrom::kNothing;
  uint8_t cfa_register = 0;
  uint8_t return_register = 0;   // the return address is this register's value in the caller
  bool is_signal_frame = false;  // the frame it returns to was interrupted, not called
  bool signs_return = false;     // arm64: the return address carries a pointer authentication code
  uint8_t saved_count = 0;
  int32_t cfa_value = 0;
  uint32_t first_saved = 0;
};

/// Enough for the registers that matter on every architecture here: x86-64 has 16 and the return
/// address, arm64 31 and the stack pointer. Vector registers have higher numbers and say nothing
/// about frames.
inline constexpr uint32_t kUnwindRegisters = 33;

}  // namespace sonde
