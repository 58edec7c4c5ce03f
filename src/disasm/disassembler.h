// Instructions as text: x86 with Zydis, arm64 with capstone, in objdump's spelling.
//
//   Disassembler code = TRY(Disassembler::make(abi::Arch::kX86_64, {}));
//   Instruction i;
//   code.decode(bytes, 0x1139, i);      // length 5, text "call   1030", target 0x1030
//
// The text does not include names for what an instruction refers to: callers that know symbols
// append them (`target`). Bytes are untrusted: an invalid instruction is "(bad)", one byte long.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "abi/regs.h"
#include "base/bytes.h"
#include "base/error.h"

namespace sonde::disasm {

enum class Syntax : uint8_t { kAtt, kIntel };

/// Where control goes after an instruction.
enum class Flow : uint8_t { kOn, kJump, kCall, kReturn };

struct Instruction {
  size_t length = 0;
  std::string text;
  Flow flow = Flow::kOn;
  /// The target of a direct jump or call, or the address of a PC-relative operand.
  std::optional<uint64_t> target;
};

struct Options {
  bool is_64_bit = true;  // x86 only
  Syntax syntax = Syntax::kAtt;
};

class Disassembler {
 public:
  /// Fails with kUnsupported for machines other than x86 and arm64.
  static Result<Disassembler> make(abi::Arch arch, const Options& options);
  Disassembler(Disassembler&&) noexcept;
  Disassembler& operator=(Disassembler&&) noexcept;
  ~Disassembler();

  /// Decodes the first instruction of `bytes`, which is at `address`. `bytes` must not be empty;
  /// `out` is overwritten, and keeps its memory.
  void decode(Bytes bytes, uint64_t address, Instruction& out) const;

 private:
  struct State;
  explicit Disassembler(std::unique_ptr<State> state);
  void decode_x86(Bytes bytes, uint64_t address, Instruction& out) const;
  /// An fwait and the instruction that waits for it, as one; false if there is none.
  bool decode_waiting(Bytes bytes, uint64_t address, Instruction& out) const;
  std::unique_ptr<State> state_;
};

/// Only length and kind, in a fraction of the time.
struct InstructionSize {
  size_t length = 0;       // 0: not an instruction, or truncated
  bool is_branch = false;  // jumps, calls, returns, interrupts and system calls
};
inline constexpr size_t kMaxX86InstructionLength = 15;
InstructionSize measure_x86(Bytes bytes, bool is_64_bit);

}  // namespace sonde::disasm
