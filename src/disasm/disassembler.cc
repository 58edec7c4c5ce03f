#include "disasm/disassembler.h"

#include <Zydis/Zydis.h>
#include <fmt/format.h>

#include <algorithm>

#include "disasm/arm64_text.h"
#include "disasm/x86_text.h"

namespace sonde::disasm {
namespace {

ZydisDecoder x86_decoder(bool is_64_bit) {
  ZydisDecoder decoder;
  if (is_64_bit)
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  else
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
  return decoder;
}

bool is_branch(const ZydisDecodedInstruction& i) {
  switch (i.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
      return true;
    default:
      return false;
  }
}

}  // namespace

struct Disassembler::State {
  Options options;
  bool is_x86 = true;
  ZydisDecoder x86;
  std::optional<Arm64Text> arm64;
};

Disassembler::Disassembler(std::unique_ptr<State> state) : state_(std::move(state)) {}
Disassembler::Disassembler(Disassembler&&) noexcept = default;
Disassembler& Disassembler::operator=(Disassembler&&) noexcept = default;
Disassembler::~Disassembler() = default;

Result<Disassembler> Disassembler::make(abi::Arch arch, const Options& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  switch (arch) {
    case abi::Arch::kX86:
    case abi::Arch::kX86_64:
      state->x86 = x86_decoder(options.is_64_bit);
      break;
    case abi::Arch::kArm64:
      state->is_x86 = false;
      state->arm64 = TRY(Arm64Text::make());
      break;
    default:
      return fail(ErrorCode::kUnsupported,
                  "code for this machine is not disassembled, only x86 and arm64");
  }
  return Disassembler(std::move(state));
}

namespace {

/// x87 instructions with a second name, without the n, when an fwait precedes them.
bool waits(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_FNSTENV:
    case ZYDIS_MNEMONIC_FNSTCW:
    case ZYDIS_MNEMONIC_FNCLEX:
    case ZYDIS_MNEMONIC_FNINIT:
    case ZYDIS_MNEMONIC_FNSAVE:
    case ZYDIS_MNEMONIC_FNSTSW:
      return true;
    default:
      return false;
  }
}

constexpr std::byte kWait{0x9b};

}  // namespace

void Disassembler::decode(Bytes bytes, uint64_t address, Instruction& out) const {
  if (!state_->is_x86) return state_->arm64->decode(bytes, address, out);
  if (bytes[0] == kWait && decode_waiting(bytes, address, out)) return;
  decode_x86(bytes, address, out);
}

bool Disassembler::decode_waiting(Bytes bytes, uint64_t address, Instruction& out) const {
  ZydisDecodedInstruction next;
  Bytes rest = bytes.subspan(1);
  auto status =
      ZydisDecoderDecodeInstruction(&state_->x86, nullptr, rest.data(), rest.size(), &next);
  if (!ZYAN_SUCCESS(status) || next.raw.prefix_count > 0 || !waits(next.mnemonic)) return false;
  decode_x86(rest, address + 1, out);
  ++out.length;
  constexpr size_t kNameWidth = 6;
  size_t name_end = std::min(out.text.find(' '), out.text.size());
  out.text.erase(1, 1);  // the n
  if (name_end <= kNameWidth && name_end < out.text.size()) out.text.insert(name_end - 1, 1, ' ');
  return true;
}

void Disassembler::decode_x86(Bytes bytes, uint64_t address, Instruction& out) const {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  auto status =
      ZydisDecoderDecodeFull(&state_->x86, bytes.data(), bytes.size(), &instruction, operands);
  if (!ZYAN_SUCCESS(status)) {
    out = {.length = 1, .text = "(bad)", .flow = Flow::kOn, .target = std::nullopt};
    return;
  }
  out.length = instruction.length;
  write_x86({instruction, {operands, instruction.operand_count_visible}, address},
            state_->options.syntax, out);
}

InstructionSize measure_x86(Bytes bytes, bool is_64_bit) {
  thread_local const ZydisDecoder k64 = x86_decoder(true), k32 = x86_decoder(false);
  ZydisDecodedInstruction instruction;
  auto status = ZydisDecoderDecodeInstruction(is_64_bit ? &k64 : &k32, nullptr, bytes.data(),
                                              bytes.size(), &instruction);
  if (!ZYAN_SUCCESS(status)) return {};
  return {instruction.length, is_branch(instruction)};
}

}  // namespace sonde::disasm
