#include "disasm/arm64_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "disasm/arm64_words.h"
#include "disasm/capstone_library.h"

namespace sonde::disasm {
namespace {

constexpr size_t kLength = 4;

/// capstone 4's groups do not distinguish calls from jumps.
Flow flow_of(const CapstoneLibrary& library, csh handle, const cs_insn& instruction) {
  switch (instruction.id) {
    case ARM64_INS_BL:
    case ARM64_INS_BLR:
      return Flow::kCall;
    case ARM64_INS_RET:
      return Flow::kReturn;
    default:
      return library.insn_group(handle, &instruction, CS_GRP_JUMP) ? Flow::kJump : Flow::kOn;
  }
}

/// Addresses are the immediates of branches and of adr, adrp and literal loads.
bool refers_to_address(const cs_insn& instruction, Flow flow) {
  switch (instruction.id) {
    case ARM64_INS_ADR:
    case ARM64_INS_ADRP:
      return true;
    case ARM64_INS_TBZ:
    case ARM64_INS_TBNZ:
    case ARM64_INS_CBZ:
    case ARM64_INS_CBNZ:
      return true;
    default:
      return flow == Flow::kJump || flow == Flow::kCall;
  }
}

/// objdump prints bare addresses: "bl 1030", where capstone has "bl #0x1030".
void write_target(const cs_insn& instruction, Instruction& out) {
  const cs_arm64& detail = instruction.detail->arm64;
  if (detail.op_count == 0) return;
  const cs_arm64_op& last = detail.operands[detail.op_count - 1];
  if (last.type != ARM64_OP_IMM) return;
  auto target = static_cast<uint64_t>(last.imm);
  size_t hash = out.text.rfind('#');
  if (hash == std::string::npos) return;
  out.text.replace(hash, std::string::npos, fmt::format("{:x}", target));
  out.target = target;
}

/// "[x28], #0xffffffffffffffe8" is a negative offset: "#-0x18".
void write_step_back(std::string& text) {
  size_t at = text.rfind("], #0xf");
  constexpr size_t kDigits = 16;
  if (at == std::string::npos || text.size() - at != std::string_view("], #0x").size() + kDigits)
    return;
  at += std::string_view("], #").size();
  uint64_t step = std::strtoull(text.c_str() + at, nullptr, 16);
  text.replace(at, std::string::npos, fmt::format("-{:#x}", -step));
}

}  // namespace

void CloseArm64::operator()(size_t* handle) const {
  csh opened = *handle;
  library->close(&opened);
  delete handle;
}

Result<Arm64Handle> open_arm64() {
  const CapstoneLibrary* library = TRY(CapstoneLibrary::get());
  csh handle = 0;
  if (library->open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle) != CS_ERR_OK)
    return fail(ErrorCode::kUnsupported, "this capstone library does not support arm64");
  library->option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  return Arm64Handle(new size_t(handle), CloseArm64{library});
}

Result<Arm64Text> Arm64Text::make() {
  return Arm64Text(TRY(open_arm64()));
}

void Arm64Text::decode(Bytes bytes, uint64_t address, Instruction& out) const {
  out = {.length = std::min(kLength, bytes.size()), .text = {}, .flow = Flow::kOn, .target = {}};
  const CapstoneLibrary& library = *handle_.get_deleter().library;
  cs_insn* found = nullptr;
  const auto* code = reinterpret_cast<const uint8_t*>(bytes.data());
  uint32_t word = 0;
  for (size_t i = 0; i < out.length; ++i) word |= uint32_t{code[i]} << (8 * i);
  if (out.length == kLength) {
    if (auto known = arm64_word(word)) {
      out.text = std::move(*known);
      return;
    }
  }
  size_t count = library.disasm(*handle_, code, out.length, address, 1, &found);
  if (count == 0) {
    out.text = fmt::format(".inst\t0x{:08x} ; undefined", word);
    return;
  }
  std::string_view operands = found->op_str;
  std::string_view name = found->id == ARM64_INS_INS ? "mov" : found->mnemonic;
  out.text = operands.empty() ? std::string(name) : fmt::format("{}\t{}", name, operands);
  write_step_back(out.text);
  out.flow = flow_of(library, *handle_, *found);
  if (refers_to_address(*found, out.flow)) write_target(*found, out);
  library.free(found, count);
}

}  // namespace sonde::disasm
