#include "pt/instruction_decoder.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstring>

#ifdef SONDE_HAS_LIBIPT
#include <intel-pt.h>
#endif

namespace sonde::pt {
namespace {

constexpr size_t kLongestInstruction = 15;

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
    // These branch only by what the trace tells otherwise.
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_XEND:
    case ZYDIS_MNEMONIC_XABORT:
    case ZYDIS_MNEMONIC_BOUND:
      return InstructionKind::kOther;
    default:
      return kind_of_control(i);
  }
}

uint8_t bindings_of(const ZydisDecodedInstruction& i, InstructionKind kind) {
  constexpr uint8_t kMovToControl = 0x22, kCr3 = 3;
  switch (i.mnemonic) {
    case ZYDIS_MNEMONIC_VMLAUNCH:
    case ZYDIS_MNEMONIC_VMRESUME:
      return kBindsPaging | kBindsVmcs | kBindsLaunch;
    case ZYDIS_MNEMONIC_VMPTRLD:
      return kBindsVmcs;
    case ZYDIS_MNEMONIC_MOV:
      if (i.opcode_map == ZYDIS_OPCODE_MAP_0F && i.opcode == kMovToControl &&
          i.raw.modrm.reg == kCr3)
        return kBindsCr3 | kBindsPaging;
      return 0;
    default:
      break;
  }
  bool changes_more = kind == InstructionKind::kFarCall || kind == InstructionKind::kFarReturn ||
                      kind == InstructionKind::kFarJump;
  return changes_more ? kBindsPaging | kBindsVmcs : 0;
}

#ifndef SONDE_HAS_LIBIPT

uint8_t size_by_libipt(std::span<const std::byte> /*bytes*/, bool /*is_64_bit*/) {
  return 0;
}

#else

constexpr uint64_t kPlace = 0x1000;

int read_bytes(uint8_t* buffer, size_t size, const pt_asid* /*asid*/, uint64_t ip, void* context) {
  const auto& bytes = *static_cast<const std::span<const std::byte>*>(context);
  if (ip < kPlace || ip - kPlace >= bytes.size()) return -pte_nomap;
  size_t count = std::min(size, bytes.size() - (ip - kPlace));
  std::memcpy(buffer, bytes.data() + (ip - kPlace), count);
  return static_cast<int>(count);
}

/// libipt goes by the encoding alone, so that it knows the size of instructions that are newer than
/// Zydis. It is asked by a trace that leads to the instruction: PSB, MODE, FUP, PSBEND, TNT. 0: the
/// bytes are none either, or one that branches.
uint8_t size_by_libipt(std::span<const std::byte> bytes, bool is_64_bit) {
  uint8_t trace[] = {2, 0x82, 2,    0x82, 2,    0x82, 2,    0x82, 2, 0x82, 2, 0x82, 2,    0x82,
                     2, 0x82, 0x99, 1,    0x7d, 0,    0x10, 0,    0, 0,    0, 2,    0x23, 4};
  constexpr size_t kMode = 17;
  trace[kMode] = is_64_bit ? 1 : 2;
  pt_config config;
  pt_config_init(&config);
  config.begin = trace;
  config.end = trace + sizeof trace;
  std::unique_ptr<pt_insn_decoder, decltype(&pt_insn_free_decoder)> decoder(
      pt_insn_alloc_decoder(&config), pt_insn_free_decoder);
  if (!decoder) return 0;
  pt_image_set_callback(pt_insn_get_image(decoder.get()), read_bytes, &bytes);
  int status = pt_insn_sync_forward(decoder.get());
  while (status >= 0 && (status & pts_event_pending) != 0) {
    pt_event event;
    status = pt_insn_event(decoder.get(), &event, sizeof event);
  }
  pt_insn found{};
  if (status < 0 || pt_insn_next(decoder.get(), &found, sizeof found) < 0) return 0;
  return found.iclass == ptic_other ? found.size : 0;
}

#endif

}  // namespace

struct InstructionDecoder::Decoders {
  ZydisDecoder of_64_bit, of_32_bit;
};

InstructionDecoder::InstructionDecoder() : decoders_(std::make_unique<Decoders>()) {
  ZydisDecoder* all[] = {&decoders_->of_64_bit, &decoders_->of_32_bit};
  ZydisDecoderInit(all[0], ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecoderInit(all[1], ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
  // No operands: lengths and kinds are all that is asked for.
  for (ZydisDecoder* decoder : all)
    ZydisDecoderEnableMode(decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_FALSE);
}

InstructionDecoder::~InstructionDecoder() = default;

DecodedInstruction InstructionDecoder::decode(std::span<const std::byte> bytes, uint64_t ip,
                                              bool is_64_bit) const {
  DecodedInstruction made;
  made.instruction.ip = ip;
  made.instruction.is_64_bit = is_64_bit;
  ZydisDecodedInstruction decoded;
  const ZydisDecoder& decoder = is_64_bit ? decoders_->of_64_bit : decoders_->of_32_bit;
  if (!ZYAN_SUCCESS(
          ZydisDecoderDecodeInstruction(&decoder, nullptr, bytes.data(), bytes.size(), &decoded))) {
    made.instruction.size = size_by_libipt(bytes, is_64_bit);
    std::memcpy(made.instruction.bytes.data(), bytes.data(), made.instruction.size);
    return made;
  }
  made.instruction.size = decoded.length;
  made.instruction.kind = kind_of(decoded);
  std::memcpy(made.instruction.bytes.data(), bytes.data(), decoded.length);
  made.is_direct = decoded.raw.imm[0].is_relative != 0;
  made.displacement = made.is_direct ? decoded.raw.imm[0].value.s : 0;
  made.bindings = bindings_of(decoded, made.instruction.kind);
  return made;
}

size_t read_instructions(CodeReader& code, uint64_t ip, std::span<std::byte> to, uint64_t tsc) {
  size_t got = code.read(ip, to, tsc);
  // An instruction may go on in the next mapping.
  size_t least = std::min(to.size(), kLongestInstruction);
  if (got > 0 && got < least) got += code.read(ip + got, to.subspan(got, least - got), tsc);
  return got;
}

}  // namespace sonde::pt
