#include "unwind/stack_unwinder.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include "dwarf/debug_frame_builder.h"
#include "elf/elf_builder.h"

namespace sonde {
namespace {

constexpr uint64_t kCode = 0x1000;
constexpr uint64_t kStackEnd = 0x7ffc'0000'0000;

/// Three functions in .debug_frame: 0x1000 has pushed two words (one is %rbx), 0x2000 keeps a frame
/// pointer, 0x3000 is the outermost. What is mapped from 0x8000 on has no information.
class Process final : public CodeMap {
 public:
  Process() {
    DebugFrameBuilder frames(7, 16);
    frames.function(kCode, {DW_CFA_def_cfa_offset, 24, DW_CFA_offset | 3, 2});
    frames.function(0x2000, {DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2});
    frames.function(0x3000, {DW_CFA_undefined, 16});
    ElfBuilder elf;
    elf.section(".debug_frame", SHT_PROGBITS, 0, 0, frames.content());
    auto file = ElfFile::own(elf.build(), "test");
    EXPECT_TRUE(file.has_value());
    table_ = CfiTable::build(*file, nullptr);
    EXPECT_EQ(table_.bad_entries(), 0U);
  }
  [[nodiscard]] UnwindPlace find(uint64_t address) override {
    if (address < kCode || address >= 0x9000) return {};
    return {true, address < 0x8000 ? &table_ : nullptr, ElfAddr(address)};
  }

 private:
  CfiTable table_;
};

struct Chain {
  std::vector<uint64_t> addresses;
  ChainEnd end;
};

/// `words` are at the stack pointer; registers are rip, rsp and rbp.
Chain unwind(uint64_t ip, std::vector<uint64_t> words, uint64_t rbp = 0, size_t limit = 100) {
  static const Process process;
  uint64_t regs[] = {rbp, kStackEnd, ip};
  Sample sample;
  sample.regs_user.abi = abi::kRegsAbi64;
  sample.regs_user.mask = 1 << 6 | 1 << 7 | 1 << 8;
  sample.regs_user.words = WordView(std::as_bytes(std::span(regs)), kHostOrder);
  sample.stack_user = std::as_bytes(std::span(words));
  Chain chain{};
  Process code = process;
  chain.end = StackUnwinder(abi::Arch::kX86_64).unwind(sample, code, limit, chain.addresses);
  return chain;
}

using Addresses = std::vector<uint64_t>;

TEST(StackUnwinder, GoesToTheOutermostFrame) {
  // 0x1010 was called from 0x2050, which keeps rbp, from 0x3020.
  Chain chain = unwind(0x1010, {11, 22, 0x2050, 33, 0, 0x3020}, kStackEnd + 32);
  EXPECT_EQ(chain.addresses, (Addresses{0x1010, 0x204f, 0x301f}));
  EXPECT_EQ(chain.end, ChainEnd::kOutermost);
}

TEST(StackUnwinder, SaysWhereTheCopyEnds) {
  Chain chain = unwind(0x1010, {11, 22, 0x2050, 33}, kStackEnd + 32);
  EXPECT_EQ(chain.addresses, (Addresses{0x1010, 0x204f}));
  EXPECT_EQ(chain.end, ChainEnd::kStackCopy);
}

TEST(StackUnwinder, FollowsFramePointersWhereNothingIsKnown) {
  // Generated code at 0x8100 keeps rbp; its caller at 0x1020 has two words on its stack.
  Chain chain = unwind(0x8100, {1, kStackEnd + 24, 0x1021, 11, 22, 0x3011}, kStackEnd + 8);
  EXPECT_EQ(chain.addresses, (Addresses{0x8100, 0x1020, 0x3010}));
  EXPECT_EQ(chain.end, ChainEnd::kOutermost);
}

TEST(StackUnwinder, StopsAtWhatIsNoFrame) {
  EXPECT_EQ(unwind(0x8100, {1, 2, 3}, kStackEnd + 8).end, ChainEnd::kNoRule) << "3 is no code";
  EXPECT_EQ(unwind(0x8100, {1, 2, 3}, 5).end, ChainEnd::kNoRule) << "rbp is some number";
  EXPECT_EQ(unwind(0x8100, {1, 2, 3}, 0).end, ChainEnd::kOutermost) << "rbp says so";
  Chain lost = unwind(0x1010, {11, 22, 0x77777});
  EXPECT_EQ(lost.addresses, Addresses{0x1010});
  EXPECT_EQ(lost.end, ChainEnd::kNotMapped);
  EXPECT_EQ(unwind(0x1010, {11, 22, 0}).end, ChainEnd::kOutermost);
}

TEST(StackUnwinder, EndsAtTheLimit) {
  std::vector<uint64_t> deep;
  for (int i = 0; i < 50; ++i) deep.insert(deep.end(), {1, 2, 0x1010});
  Chain chain = unwind(0x1010, deep, 0, 7);
  EXPECT_EQ(chain.addresses.size(), 7U);
  EXPECT_EQ(chain.end, ChainEnd::kLimit);
}

/// Code of the C library, which calls nothing here, and arm64's vdso, about which nothing is known.
class Arm64Process final : public CodeMap {
 public:
  [[nodiscard]] UnwindPlace find(uint64_t address) override {
    if (address < kCode || address >= 0x9000) return {};
    return {true, nullptr, ElfAddr(address), address >= 0x8000};
  }
};

TEST(StackUnwinder, CrossesArm64SignalFramesInTheVdso) {
  // A handler at 0x1010 with a frame record, which returns to the vdso; then the kernel's frame.
  std::vector<uint64_t> stack{kStackEnd + 0x100, 0x8010};
  size_t frame = stack.size();
  stack.resize(frame + (128 + 176 + 8) / 8);
  for (uint64_t i = 0; i < 29; ++i) stack.push_back(i);
  uint64_t outer = kStackEnd + (stack.size() + 5) * 8;
  stack.insert(stack.end(), {outer, 0x2222, outer, 0x3000, 0});  // x29, x30, sp, pc, pstate
  stack.insert(stack.end(), {0, 0x4011, 0, 0});                  // a record that ends the chain
  outer = kStackEnd + (stack.size() - 4) * 8;
  stack[frame + (128 + 176 + 8) / 8 + 29] = outer;
  stack[frame + (128 + 176 + 8) / 8 + 31] = outer;
  uint64_t regs[] = {kStackEnd, kStackEnd, 0x1010};
  Sample sample;
  sample.regs_user.abi = abi::kRegsAbi64;
  sample.regs_user.mask = uint64_t{1} << 29 | uint64_t{1} << 31 | uint64_t{1} << 32;
  sample.regs_user.words = WordView(std::as_bytes(std::span(regs)), kHostOrder);
  sample.stack_user = std::as_bytes(std::span(stack));
  Arm64Process code;
  std::vector<uint64_t> addresses;
  StackUnwinder(abi::Arch::kArm64).unwind(sample, code, 100, addresses);
  EXPECT_EQ(addresses, (Addresses{0x1010, 0x8010, 0x3000, 0x4010})) << "exact, not that of a call";
}

TEST(StackUnwinder, WithoutRegistersThereIsNoChain) {
  Process process;
  std::vector<uint64_t> addresses;
  Sample sample;
  EXPECT_EQ(StackUnwinder(abi::Arch::kX86_64).unwind(sample, process, 10, addresses),
            ChainEnd::kNoRegisters);
  EXPECT_TRUE(addresses.empty());
}

}  // namespace
}  // namespace sonde
