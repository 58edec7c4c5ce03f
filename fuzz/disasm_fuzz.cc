// Arbitrary code: every decoder gets to its end, says sizes that are there, and prints only what
// can be printed; those that print and those that follow data agree on sizes.
#include "base/check.h"
#include "disasm/disassembler.h"
#include "disasm/operation.h"
#include "fuzz/fuzz_target.h"

namespace {

using namespace sonde;

void disassemble_all(Bytes code, abi::Arch arch, const disasm::Options& options) {
  auto text = disasm::Disassembler::make(arch, options);
  auto operations = disasm::OperationDecoder::make(arch, options.is_64_bit);
  if (!text || !operations) return;
  constexpr uint64_t kStart = 0x401000;
  disasm::Instruction instruction;
  for (size_t at = 0; at < code.size(); at += instruction.length) {
    Bytes rest = code.subspan(at);
    text->decode(rest, kStart + at, instruction);
    CHECK(instruction.length > 0 && instruction.length <= rest.size());
    CHECK(!instruction.text.empty());
    for (char c : instruction.text) CHECK((c >= ' ' && c < 0x7f) || c == '\t');
    disasm::Operation operation = operations->decode(rest, kStart + at);
    CHECK(operation.length <= rest.size());
    if (arch == abi::Arch::kX86_64)
      CHECK(disasm::measure_x86(rest, options.is_64_bit).length <= rest.size());
  }
}

}  // namespace

FUZZ_TARGET(disasm)(const uint8_t* data, size_t size) {
  constexpr size_t kMaxBytes = 4096;
  Bytes code(reinterpret_cast<const std::byte*>(data), std::min(size, kMaxBytes));
  for (disasm::Syntax syntax : {disasm::Syntax::kAtt, disasm::Syntax::kIntel})
    for (bool is_64_bit : {true, false})
      disassemble_all(code, abi::Arch::kX86_64, {.is_64_bit = is_64_bit, .syntax = syntax});
  disassemble_all(code, abi::Arch::kArm64, {});
  return 0;
}
