// What an instruction does with addresses: which memory it accesses, and where values that may be
// pointers go. For data flow analysis; disassembler.h prints instructions.
//
//   mov 0x10(%rdi),%rax     kLoad   to rax, memory rdi+0x10, 8 bytes, read
//   lea (%rax,%rbx,8),%rcx  kAddress to rcx, memory rax+rbx*8, neither read nor written
//   add $0x18,%rax          kAdd    to rax, value 0x18
//
// Registers have the architecture's DWARF numbers (abi/regs.h names them in another order).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "abi/regs.h"
#include "base/bytes.h"
#include "base/error.h"
#include "disasm/disassembler.h"

namespace sonde::disasm {

inline constexpr uint8_t kNoRegister = UINT8_MAX;
/// The addend is not a register, but unknown.
inline constexpr uint8_t kUnknownNumber = UINT8_MAX - 1;

struct MemoryOperand {
  uint8_t base = kNoRegister;
  uint8_t index = kNoRegister;
  uint8_t scale = 1;
  int64_t displacement = 0;
  /// The address itself, without the index, if there is no base register.
  std::optional<uint64_t> address;
  bool of_thread = false;  // relative to the thread pointer: %fs, %gs
  uint32_t size = 0;       // bytes; 0: unknown
  bool is_read = false, is_written = false;
};

enum class DataMove : uint8_t {
  kNone,
  kCopy,      // to = from
  kConstant,  // to = value
  kLoad,      // to = memory, of a pointer's full size
  kStore,     // memory = from
  kAddress,   // to = the address of `memory`
  kAdd,       // to = from + value, or from + other if that is a register
  kSubtract,  // to = from - other
  kSelect,    // to = to or from
  kLeave,     // x86: the stack pointer = the frame pointer, which is popped
};

struct Operation {
  size_t length = 0;  // 0: not an instruction
  Flow flow = Flow::kOn;
  bool is_conditional = false;  // control may also fall through
  std::optional<uint64_t> target;

  DataMove move = DataMove::kNone;
  uint8_t to = kNoRegister, from = kNoRegister, other = kNoRegister;
  int64_t value = 0;
  /// For loads and stores of a register pair: the second one, whose memory follows the first.
  uint8_t second = kNoRegister;

  std::optional<MemoryOperand> memory;
  bool is_stack = false;  // saves or restores registers: push, pop, call, ret
  /// Additional changes to the stack pointer, or a base register: push and pop; pre- and
  /// post-indexed operands, where `base_after` says that memory is accessed first.
  int64_t stack_change = 0;
  int64_t base_change = 0;
  bool base_after = false;
  uint64_t written = 0;  // a bit per register whose value changes
};

/// What the calling convention says about registers.
struct CallingConvention {
  uint8_t stack_pointer;
  uint8_t result;
  /// Where a function gets the address for a result in memory, and whether `result` has it again on
  /// return.
  uint8_t result_place;
  bool returns_place;
  /// The largest structure returned in registers.
  uint8_t largest_result;
  uint64_t lost_in_calls;  // a bit per register that a callee may change
  int64_t stack_at_entry;  // stack pointer - CFA at a function's first instruction
  uint8_t pointer_size;
};

class OperationDecoder {
 public:
  /// Fails with kUnsupported for machines other than x86 and arm64.
  static Result<OperationDecoder> make(abi::Arch arch, bool is_64_bit);
  OperationDecoder(OperationDecoder&&) noexcept;
  OperationDecoder& operator=(OperationDecoder&&) noexcept;
  ~OperationDecoder();

  /// Decodes the first instruction of `bytes`, which is at `address`.
  [[nodiscard]] Operation decode(Bytes bytes, uint64_t address) const;
  [[nodiscard]] const CallingConvention& convention() const;

 private:
  struct State;
  explicit OperationDecoder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde::disasm
