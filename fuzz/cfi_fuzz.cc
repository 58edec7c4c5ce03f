// Untrusted call frame information, and stacks unwound with it. The first bytes are the registers,
// then a stack; the rest is the section.
#include <elf.h>

#include <cstddef>
#include <cstdint>

#include "dwarf/cfi_sections.h"
#include "elf/elf_builder.h"
#include "fuzz/fuzz_target.h"
#include "symbol/elf_symbols.h"
#include "unwind/stack_unwinder.h"

namespace {

using namespace sonde;

class Code final : public CodeMap {
 public:
  explicit Code(const CfiTable& table) : table_(table) {}
  [[nodiscard]] UnwindPlace find(uint64_t address) override {
    return {address % 7 != 0, address % 5 != 0 ? &table_ : nullptr, ElfAddr(address & 0xffff)};
  }

 private:
  const CfiTable& table_;
};

}  // namespace

FUZZ_TARGET(cfi)(const uint8_t* data, size_t size) {
  constexpr size_t kRegisters = 24 * 8, kStack = 256;
  if (size < 1 + kRegisters + kStack) return 0;
  Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  bool is_arm64 = (data[0] & 1) != 0;
  ElfBuilder elf(true, ByteOrder::kLittle, is_arm64 ? EM_AARCH64 : EM_X86_64);
  elf.section((data[0] & 2) != 0 ? ".debug_frame" : ".eh_frame", SHT_PROGBITS,
              (data[0] & 4) != 0 ? SHF_COMPRESSED : SHF_ALLOC, 0x100,
              std::string(as_text(bytes.subspan(1 + kRegisters + kStack))));
  auto file = ElfFile::own(elf.build(), "fuzz");
  if (!file) return 0;
  CfiTable table = CfiTable::build(*file, nullptr);
  for (const FunctionRange& function : CfiSections(*file, nullptr).functions())
    if (function.start >= function.end) __builtin_trap();
  SymbolTable functions = load_elf_symbols(ElfFile::own(elf.build(), "fuzz").value(), std::nullopt,
                                           {.frame_functions = true});
  for (const Symbol& function : functions.symbols())
    if (functions.find(function.start) != &function) __builtin_trap();
  Sample sample;
  sample.regs_user.abi = (data[0] & 8) != 0 ? abi::kRegsAbi32 : abi::kRegsAbi64;
  sample.regs_user.mask = is_arm64 ? 0x1'e000'ffffu : 0x00ff'01ffu;
  sample.regs_user.words = WordView(bytes.subspan(1, kRegisters), kHostOrder);
  sample.stack_user = bytes.subspan(1 + kRegisters, kStack);
  Code code(table);
  std::vector<uint64_t> addresses;
  StackUnwinder(is_arm64 ? abi::Arch::kArm64 : abi::Arch::kX86_64)
      .unwind(sample, code, 200, addresses);
  if (addresses.size() > 200) __builtin_trap();
  return 0;
}
