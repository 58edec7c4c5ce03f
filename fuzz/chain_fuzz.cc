// Hostile samples in a process whose call frame information is sound: registers, copied stack,
// kernel chain, branch records. The first byte selects; then come registers, 32 words of chain and
// branches, and the stack.
#include <dwarf.h>

#include <cstddef>
#include <cstdint>

#include "dwarf/debug_frame_builder.h"
#include "elf/elf_builder.h"
#include "fuzz/fuzz_target.h"
#include "unwind/call_stack_branches.h"
#include "unwind/callchain.h"
#include "unwind/leaf_caller.h"
#include "unwind/rejoin.h"
#include "unwind/stack_unwinder.h"

namespace {

using namespace sonde;

/// Functions of 256 bytes from 0 on, one for each way of finding a caller.
std::vector<std::byte> frame_section(bool is_arm64) {
  int sp = is_arm64 ? 31 : 7, fp = is_arm64 ? 29 : 6, back = is_arm64 ? 30 : 16;
  DebugFrameBuilder frames(sp, back);
  uint64_t start = 0;
  auto function = [&](std::initializer_list<int> program) {
    frames.function(start, program);
    start += DebugFrameBuilder::kFunctionBytes;
  };
  function({DW_CFA_def_cfa_offset, 24, DW_CFA_offset | 3, 2});
  function({DW_CFA_def_cfa, fp, 16, DW_CFA_offset | fp, 2});
  function({DW_CFA_undefined, back});
  function({DW_CFA_same_value, back, DW_CFA_register, 3, 12});
  // As in a PLT, and as in a signal frame: computed, and read from the address computed.
  function({DW_CFA_def_cfa_expression, 6, DW_OP_breg0 + fp, 8, DW_OP_lit15, DW_OP_and,
            DW_OP_breg0 + 3, 0});
  function({DW_CFA_expression, back, 3, DW_OP_breg0 + 3, 8, DW_OP_deref, DW_CFA_val_offset, fp, 2});
  function({0x2d, DW_CFA_def_cfa_offset, 0});
  ElfBuilder elf(true, ByteOrder::kLittle, is_arm64 ? EM_AARCH64 : EM_X86_64);
  elf.section(".debug_frame", SHT_PROGBITS, 0, 0, frames.content());
  return elf.build();
}

class RuledCode final : public CodeMap {
 public:
  explicit RuledCode(bool is_arm64) {
    if (auto file = ElfFile::own(frame_section(is_arm64), "fuzz"))
      table_ = CfiTable::build(*file, nullptr);
  }
  /// Small addresses are functions, or code about which nothing is known.
  [[nodiscard]] UnwindPlace find(uint64_t address) override {
    if (address >= 0x10000) return {};
    return {true, address < 0x8000 ? &table_ : nullptr, ElfAddr(address & 0x7ff)};
  }

 private:
  CfiTable table_;
};

}  // namespace

FUZZ_TARGET(chain)(const uint8_t* data, size_t size) {
  constexpr size_t kRegisters = 33 * 8, kWords = 32 * 8, kLimit = 200;
  if (size < 1 + kRegisters + kWords) return 0;
  Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  bool is_arm64 = (data[0] & 1) != 0;
  static RuledCode codes[] = {RuledCode(false), RuledCode(true)};
  RuledCode& code = codes[is_arm64 ? 1 : 0];
  abi::Arch arch = is_arm64 ? abi::Arch::kArm64 : abi::Arch::kX86_64;
  Sample sample;
  sample.regs_user.abi = (data[0] & 2) != 0 ? abi::kRegsAbi32 : abi::kRegsAbi64;
  sample.regs_user.mask = is_arm64 ? 0x1'ffff'ffffu : 0x00ff'01ffu;
  sample.regs_user.words = WordView(bytes.subspan(1, kRegisters), kHostOrder);
  WordView words(bytes.subspan(1 + kRegisters, kWords), kHostOrder);
  sample.callchain = words;
  sample.branches = words;
  sample.branch_hw_index = data[0] >> 2;
  sample.stack_user = bytes.subspan(1 + kRegisters + kWords);

  std::vector<uint64_t> addresses;
  StackUnwinder unwinder(arch);
  unwinder.unwind(sample, code, kLimit, addresses);
  if (addresses.size() > kLimit) __builtin_trap();
  std::vector<uint64_t> kernel;
  for_each_address(words, [&](uint64_t ip, uint16_t) { kernel.push_back(ip); });
  auto rest = rest_of_chain(sample, arch, unwinder.last_stack_pointer(), kernel);
  if (rest.size() >= kernel.size() && !rest.empty()) __builtin_trap();
  (void)caller_in_link_register(code.find(sample.ip), words[0]);

  BranchStitcher stitcher(data[0] & 31);
  for (uint32_t i = 0; i < 4; ++i) {
    (void)stitcher.calls_around(i & 1, sample);
    sample.branch_hw_index = words[i] & 31;
  }
  return 0;
}
