// Instructions as text: x86 by Zydis, arm64 by capstone, spelled as objdump spells them.
//
//   Disassembler code = TRY(Disassembler::make(abi::Arch::kX86_64, {}));
//   Instruction i;
//   code.decode(bytes, 0x1139, i);      // length 5, text "call   1030", target 0x1030
//
// Names of what an instruction refers to are not part of the text: who knows symbols puts them
// behind it (`target`). Bytes are untrusted: what is no instruction is "(bad)", a byte long.
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

/// Where control goes behind an instruction.
enum class Flow : uint8_t { kOn, kJump, kCall, kReturn };

struct Instruction {
  size_t length = 0;
  std::string text;
  Flow flow = Flow::kOn;
  /// Where a direct jump or call goes, or the address that the operand relative to the program
  /// counter means.
  std::optional<uint64_t> target;
};

struct Options {
  bool is_64_bit = true;  // x86 only
  Syntax syntax = Syntax::kAtt;
};

class Disassembler {
 public:
  /// kUnsupported for machines other than x86 and arm64.
  static Result<Disassembler> make(abi::Arch arch, const Options& options);
  Disassembler(Disassembler&&) noexcept;
  Disassembler& operator=(Disassembler&&) noexcept;
  ~Disassembler();

  /// The first instruction of `bytes`, which lies at `address`. `bytes` must not be empty; `out`
  /// is overwritten, and keeps its memory.
  void decode(Bytes bytes, uint64_t address, Instruction& out) const;

 private:
  struct State;
  explicit Disassembler(std::unique_ptr<State> state);
  void decode_x86(Bytes bytes, uint64_t address, Instruction& out) const;
  /// An fwait and what waits for it, as one instruction; false where nothing does.
  bool decode_waiting(Bytes bytes, uint64_t address, Instruction& out) const;
  std::unique_ptr<State> state_;
};

/// Length and kind alone, in a fraction of the time.
struct InstructionSize {
  size_t length = 0;       // 0: not an instruction, or its bytes are not all there
  bool is_branch = false;  // jumps, calls, returns, interrupts and system calls
};
inline constexpr size_t kLongestX86Instruction = 15;
InstructionSize measure_x86(Bytes bytes, bool is_64_bit);

}  // namespace sonde::disasm
