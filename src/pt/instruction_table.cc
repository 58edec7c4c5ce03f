#include "pt/instruction_table.h"

#include <Zydis/Zydis.h>

#include <algorithm>

namespace sonde::pt {
namespace {

constexpr size_t kMostRecent = 8192;      // a power of two
constexpr size_t kMostBlocks = 1u << 20;  // beyond it, tables begin anew

bool is_far(const ZydisDecodedInstruction& i) {
  return i.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
}

InstructionKind kind_of_control(const ZydisDecodedInstruction& i) {
  switch (i.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return is_far(i) ? InstructionKind::kFarCall : InstructionKind::kCall;
    case ZYDIS_CATEGORY_RET:
      return is_far(i) ? InstructionKind::kFarReturn : InstructionKind::kReturn;
    case ZYDIS_CATEGORY_COND_BR:
      return InstructionKind::kConditional;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return is_far(i) ? InstructionKind::kFarJump : InstructionKind::kJump;
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_INTERRUPT:
      return InstructionKind::kFarCall;
    case ZYDIS_CATEGORY_SYSRET:
      return InstructionKind::kFarReturn;
    default:
      return InstructionKind::kOther;
  }
}

InstructionKind kind_of(const ZydisDecodedInstruction& i) {
  switch (i.mnemonic) {
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_VMLAUNCH:
    case ZYDIS_MNEMONIC_VMRESUME:
      return InstructionKind::kFarReturn;
    case ZYDIS_MNEMONIC_VMCALL:
      return InstructionKind::kFarCall;
    case ZYDIS_MNEMONIC_PTWRITE:
      return InstructionKind::kPtWrite;
    default:
      return kind_of_control(i);
  }
}

}  // namespace

struct InstructionTable::Decoder {
  ZydisDecoder of_64_bit, of_32_bit;
};

InstructionTable::InstructionTable(CodeReader& code)
    : code_(code), decoder_(std::make_unique<Decoder>()), recent_(kMostRecent) {
  ZydisDecoder* all[] = {&decoder_->of_64_bit, &decoder_->of_32_bit};
  ZydisDecoderInit(all[0], ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecoderInit(all[1], ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
  // No operands: lengths and kinds are all that is asked for.
  for (ZydisDecoder* decoder : all)
    ZydisDecoderEnableMode(decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_FALSE);
}

InstructionTable::~InstructionTable() = default;

void InstructionTable::clear() {
  std::ranges::fill(recent_, Instruction());
  sizes_.clear();
}

const Instruction& InstructionTable::at(uint64_t ip, bool is_64_bit, uint64_t tsc) {
  Instruction& found = recent_[ip & (kMostRecent - 1)];
  if (found.ip != ip || found.size == 0 || found.is_64_bit != is_64_bit)
    found = decode(ip, is_64_bit, tsc);
  return found;
}

Instruction InstructionTable::decode(uint64_t ip, bool is_64_bit, uint64_t tsc) const {
  Instruction made;
  made.ip = ip;
  made.is_64_bit = is_64_bit;
  auto bytes = std::as_writable_bytes(std::span(made.bytes));
  size_t got = code_.read(ip, bytes, tsc);
  // An instruction may go on in the next mapping.
  if (got > 0 && got < bytes.size()) got += code_.read(ip + got, bytes.subspan(got), tsc);
  ZydisDecodedInstruction decoded;
  const ZydisDecoder& decoder = is_64_bit ? decoder_->of_64_bit : decoder_->of_32_bit;
  if (!ZYAN_SUCCESS(
          ZydisDecoderDecodeInstruction(&decoder, nullptr, made.bytes.data(), got, &decoded))) {
    // No processor runs such bytes, but damaged traces lead to them.
    made.size = 1;
    return made;
  }
  made.size = decoded.length;
  made.kind = kind_of(decoded);
  std::fill(made.bytes.begin() + made.size, made.bytes.end(), uint8_t{0});
  return made;
}

std::span<const uint8_t> InstructionTable::of(const Block& block) {
  if (sizes_.size() >= kMostBlocks) sizes_.clear();
  Sizes& sizes = sizes_[block.ip];
  if (sizes.is_64_bit != block.last.is_64_bit) sizes = {block.last.is_64_bit, {}};
  std::vector<uint8_t>& known = sizes.of_instructions;
  // The same place may begin blocks of several lengths.
  uint64_t ip = block.ip;
  if (known.size() < block.count) {
    for (uint8_t size : known) ip += size;
    while (known.size() + 1 < block.count) {
      known.push_back(at(ip, block.last.is_64_bit, block.began).size);
      ip += known.back();
    }
    if (known.size() < block.count) known.push_back(block.last.size);
  }
  return std::span(known).first(block.count);
}

}  // namespace sonde::pt
