#include "stepping/instruction_kind.h"

#include <cstring>

#include "disasm/disassembler.h"

namespace sonde {
namespace {

/// Legacy prefixes and REX, and whether a repeat prefix is among them.
struct Prefixes {
  size_t length = 0;
  bool repeat = false;
};

Prefixes prefixes_of(Bytes bytes) {
  Prefixes found;
  for (; found.length < bytes.size(); ++found.length) {
    auto byte = std::to_integer<uint8_t>(bytes[found.length]);
    switch (byte) {
      case 0xf2:
      case 0xf3:
        found.repeat = true;
        continue;
      case 0x26:
      case 0x2e:
      case 0x36:
      case 0x3e:
      case 0x64:
      case 0x65:
      case 0x66:
      case 0x67:
      case 0xf0:
        continue;
      default:
        if ((byte & 0xf0) == 0x40) continue;  // REX
        return found;
    }
  }
  return found;
}

bool is_string_operation(uint8_t opcode) {
  return (opcode >= 0x6c && opcode <= 0x6f) || (opcode >= 0xa4 && opcode <= 0xa7) ||
         (opcode >= 0xaa && opcode <= 0xaf);
}

StepKind one_byte_kind(uint8_t opcode, uint8_t modrm, bool repeat) {
  if (opcode >= 0x70 && opcode <= 0x7f) return StepKind::kConditional;
  if (repeat && is_string_operation(opcode)) return StepKind::kRepeat;
  switch (opcode) {
    case 0xe0:  // loopne, loope, loop, jrcxz
    case 0xe1:
    case 0xe2:
    case 0xe3:
      return StepKind::kConditional;
    case 0xe8:  // call, jmp
    case 0xe9:
    case 0xeb:
      return StepKind::kDirect;
    case 0xc2:  // ret
    case 0xc3:
      return StepKind::kIndirect;
    case 0xca:  // far ret, iret: within user code
    case 0xcb:
    case 0xcf:
      return StepKind::kIndirect;
    case 0xcc:  // int3, int, into
    case 0xcd:
    case 0xce:
      return StepKind::kFar;
    case 0x9c:
      return StepKind::kPushFlags;
    case 0xff: {
      int operation = modrm >> 3 & 7;
      return operation >= 2 && operation <= 5 ? StepKind::kIndirect : StepKind::kPlain;
    }
    default:
      return StepKind::kPlain;
  }
}

StepKind two_byte_kind(uint8_t opcode) {
  if (opcode >= 0x80 && opcode <= 0x8f) return StepKind::kConditional;
  bool leaves = opcode == 0x05 || opcode == 0x34;  // syscall, sysenter
  return leaves ? StepKind::kFar : StepKind::kPlain;
}

/// A relative target is the instruction's last one or four bytes, counted from its end.
uint64_t relative_target(Bytes instruction, uint64_t ip, bool is_short) {
  uint64_t end = ip + instruction.size();
  if (is_short) {
    auto offset = std::to_integer<uint8_t>(instruction.back());
    return end + static_cast<uint64_t>(int64_t{static_cast<int8_t>(offset)});
  }
  int32_t offset = 0;
  std::memcpy(&offset, instruction.data() + instruction.size() - sizeof offset, sizeof offset);
  return end + static_cast<uint64_t>(int64_t{offset});
}

}  // namespace

StepInstruction classify_step(Bytes bytes, uint64_t ip) {
  StepInstruction step;
  disasm::InstructionSize size = disasm::measure_x86(bytes, true);
  if (size.length == 0) return step;
  step.length = static_cast<uint8_t>(size.length);
  Bytes instruction = bytes.first(size.length);
  Prefixes prefixes = prefixes_of(instruction);
  auto at = [&](size_t i) {
    size_t position = prefixes.length + i;
    return position < instruction.size() ? std::to_integer<uint8_t>(instruction[position])
                                         : uint8_t{0};
  };
  uint8_t opcode = at(0);
  constexpr uint8_t kTwoBytes = 0x0f;
  step.kind =
      opcode == kTwoBytes ? two_byte_kind(at(1)) : one_byte_kind(opcode, at(1), prefixes.repeat);
  if (step.kind == StepKind::kConditional || step.kind == StepKind::kDirect) {
    bool is_short = opcode != kTwoBytes && opcode != 0xe8 && opcode != 0xe9;
    step.target = relative_target(instruction, ip, is_short);
  }
  return step;
}

}  // namespace sonde
