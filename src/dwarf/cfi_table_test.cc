#include "dwarf/cfi_table.h"

#include <dwarf.h>
#include <elf.h>
#include <gtest/gtest.h>

#include "dwarf/cfi_expression.h"
#include "elf/elf_builder.h"

namespace sonde {
namespace {

constexpr uint64_t kText = 0x1000;
constexpr uint64_t kFrames = 0x5000;  // where .eh_frame is loaded

/// .eh_frame entries as an assembler writes them for x86-64: "zR", pc-relative 4-byte pointers.
class EhFrame {
 public:
  explicit EhFrame(std::string_view augmentation = "zR") {
    begin(0);
    out_.u8(1);  // version
    out_.text(augmentation);
    out_.u8(0);
    out_.u8(1);     // code alignment
    out_.u8(0x78);  // data alignment: -8
    out_.u8(16);    // return address
    out_.u8(1);     // length of the augmentation's data
    out_.u8(DW_EH_PE_pcrel | DW_EH_PE_sdata4);
    put({DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1});
    end();
  }

  void entry(uint64_t start, uint32_t size, std::initializer_list<uint8_t> program) {
    begin(1);
    out_.u32(static_cast<uint32_t>(start - (kFrames + out_.size())));
    out_.u32(size);
    out_.u8(0);  // augmentation
    put(program);
    end();
  }

  CfiTable table(bool with_terminator = true) {
    if (with_terminator) out_.u32(0);
    ElfBuilder elf;
    elf.section(".eh_frame", SHT_PROGBITS, SHF_ALLOC, kFrames, std::string(as_text(out_.view())));
    auto file = ElfFile::own(elf.build(), "test");
    EXPECT_TRUE(file.has_value());
    return CfiTable::build(*file, nullptr);
  }

  ByteBuilder& bytes() { return out_; }

 private:
  void put(std::initializer_list<uint8_t> program) {
    for (uint8_t byte : program) out_.u8(byte);
  }
  void begin(uint32_t kind) {
    start_ = out_.size();
    out_.u32(0);
    out_.u32(kind == 0 ? 0 : static_cast<uint32_t>(out_.size()));  // back to the first entry
  }
  void end() {
    while (out_.size() % 4 != 0) out_.u8(DW_CFA_nop);
    out_.patch(start_, static_cast<uint32_t>(out_.size() - start_ - 4));
  }

  ByteBuilder out_{ByteOrder::kLittle};
  size_t start_ = 0;
};

const SavedRegister* saved(const CfiTable& table, const UnwindRule& rule, uint8_t reg) {
  for (const SavedRegister& one : table.saved(rule))
    if (one.reg == reg) return &one;
  return nullptr;
}

TEST(CfiTable, APrologueBecomesRows) {
  EhFrame frames;
  // push %rbp; mov %rsp,%rbp; …; leave; ret
  frames.entry(kText, 32,
               {DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
                DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6, DW_CFA_advance_loc1, 20,
                DW_CFA_def_cfa, 7, 8});
  CfiTable table = frames.table();
  EXPECT_EQ(table.bad_entries(), 0U);
  EXPECT_EQ(table.find(ElfAddr(kText - 1)), nullptr);
  EXPECT_EQ(table.find(ElfAddr(kText + 32)), nullptr) << "behind the function";

  const UnwindRule* entry = table.find(ElfAddr(kText));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->cfa_register, 7);
  EXPECT_EQ(entry->cfa_value, 8);
  EXPECT_EQ(entry->return_register, 16);
  ASSERT_NE(saved(table, *entry, 16), nullptr);
  EXPECT_EQ(*saved(table, *entry, 16), (SavedRegister{16, SavedAs::kAtCfa, -8}));

  const UnwindRule* pushed = table.find(ElfAddr(kText + 1));
  ASSERT_NE(pushed, nullptr);
  EXPECT_EQ(pushed->cfa_value, 16);
  EXPECT_EQ(*saved(table, *pushed, 6), (SavedRegister{6, SavedAs::kAtCfa, -16}));
  EXPECT_EQ(table.find(ElfAddr(kText + 3)), pushed);

  const UnwindRule* body = table.find(ElfAddr(kText + 4));
  EXPECT_EQ(body->cfa_register, 6);
  EXPECT_EQ(body->cfa_value, 16);
  const UnwindRule* left = table.find(ElfAddr(kText + 31));
  EXPECT_EQ(left->cfa_register, 7);
  EXPECT_EQ(left->cfa_value, 8);
}

TEST(CfiTable, EqualRulesAreOne) {
  EhFrame frames;
  for (uint64_t i = 0; i < 100; ++i)
    frames.entry(kText + i * 64, 48, {DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 24});
  CfiTable table = frames.table();
  EXPECT_EQ(table.rule_count(), 3U) << "nothing, at the entry, after the push";
  EXPECT_EQ(table.row_count(), 300U);
  EXPECT_EQ(table.find(ElfAddr(kText + 50)), nullptr) << "between two functions";
}

TEST(CfiTable, StatesAreRememberedAndRestored) {
  EhFrame frames;
  frames.entry(
      kText, 32,
      {DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 3, 2,
       DW_CFA_advance_loc | 1, DW_CFA_remember_state, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset,
       8, DW_CFA_restore | 3, DW_CFA_advance_loc | 1, DW_CFA_restore_state});
  CfiTable table = frames.table();
  const UnwindRule* epilogue = table.find(ElfAddr(kText + 3));
  EXPECT_EQ(epilogue->cfa_value, 8);
  EXPECT_EQ(saved(table, *epilogue, 3), nullptr);
  EXPECT_EQ(table.find(ElfAddr(kText + 4)), table.find(ElfAddr(kText + 2)));
}

TEST(CfiTable, SignalFramesAndOutermostFramesAreKnown) {
  EhFrame frames("zRS");
  frames.entry(kText, 16, {DW_CFA_undefined, 16});
  CfiTable table = frames.table();
  const UnwindRule* rule = table.find(ElfAddr(kText));
  EXPECT_TRUE(rule->is_signal_frame);
  EXPECT_EQ(saved(table, *rule, 16)->how, SavedAs::kUndefined);
}

TEST(CfiTable, ExpressionsAreKept) {
  EhFrame frames;
  frames.entry(
      kText, 16,
      {DW_CFA_def_cfa_expression, 2, DW_OP_breg0 + 7, 32, DW_CFA_val_expression, 3, 1, DW_OP_lit5});
  CfiTable table = frames.table();
  const UnwindRule* rule = table.find(ElfAddr(kText));
  ASSERT_EQ(rule->cfa_from, CfaFrom::kExpression);
  EXPECT_EQ(table.expression(rule->cfa_value).size(), 2U);
  const SavedRegister* rbx = saved(table, *rule, 3);
  ASSERT_EQ(rbx->how, SavedAs::kValueExpression);
  EXPECT_EQ(table.expression(rbx->value)[0], std::byte{DW_OP_lit5});
}

TEST(CfiTable, AsBytesAndBackItSaysTheSame) {
  EhFrame frames;
  frames.entry(kText, 0x20,
               {DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2});
  frames.entry(kText + 0x40, 0x10, {DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8});
  CfiTable table = frames.table();
  std::vector<std::byte> bytes = table.pack();
  auto back = CfiTable::unpack(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->row_count(), table.row_count());
  for (uint64_t at = kText - 1; at < kText + 0x60; ++at) {
    const UnwindRule* rule = table.find(ElfAddr(at));
    const UnwindRule* same = back->find(ElfAddr(at));
    ASSERT_EQ(rule == nullptr, same == nullptr) << at;
    if (rule == nullptr) continue;
    EXPECT_EQ(rule->cfa_from, same->cfa_from);
    EXPECT_EQ(rule->cfa_value, same->cfa_value);
    EXPECT_TRUE(std::ranges::equal(table.saved(*rule), back->saved(*same)));
    if (rule->cfa_from == CfaFrom::kExpression) {
      EXPECT_TRUE(
          std::ranges::equal(table.expression(rule->cfa_value), back->expression(same->cfa_value)));
    }
  }
}

/// Whatever the bytes are, the result is a table whose indexes are all in range, or none.
TEST(CfiTable, BytesThatMakeNoSenseAreNoTable) {
  EhFrame frames;
  frames.entry(kText, 0x20,
               {DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2});
  frames.entry(kText + 0x40, 0x10, {DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8});
  std::vector<std::byte> whole = frames.table().pack();
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_FALSE(CfiTable::unpack(Bytes(whole).first(i))) << "length " << i;
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> bad = whole;
      bad[i] ^= static_cast<std::byte>(1 << bit);
      auto table = CfiTable::unpack(bad);
      if (!table) continue;
      for (uint64_t at = kText; at < kText + 0x60; ++at) {
        const UnwindRule* rule = table->find(ElfAddr(at));
        if (rule == nullptr) continue;
        for (const SavedRegister& saved : table->saved(*rule))
          if (saved.how == SavedAs::kExpression) (void)table->expression(saved.value);
        if (rule->cfa_from == CfaFrom::kExpression) (void)table->expression(rule->cfa_value);
      }
    }
  }
}

TEST(CfiTable, DamagedEntriesAreCountedAndTheOthersHold) {
  EhFrame frames;
  frames.entry(kText, 16, {DW_CFA_advance_loc | 1, 0x3f});
  frames.entry(kText + 16, 16, {DW_CFA_restore_state});
  frames.entry(kText + 32, 16, {DW_CFA_def_cfa_offset, 40});
  CfiTable table = frames.table();
  EXPECT_EQ(table.bad_entries(), 2U);
  EXPECT_EQ(table.find(ElfAddr(kText + 32))->cfa_value, 40);

  EhFrame cut;
  cut.entry(kText, 16, {});
  cut.bytes().u32(0x7fffffff);  // an entry longer than the section
  EXPECT_NE(cut.table(false).find(ElfAddr(kText)), nullptr);
}

TEST(CfiTable, ForArm64SignedReturnsAreKnown) {
  EhFrame frames;
  frames.entry(kText, 16, {DW_CFA_advance_loc | 4, 0x2d});
  EXPECT_EQ(frames.table().bad_entries(), 1U) << "of SPARC, on x86";
}

CfiTable table_of_plt(std::initializer_list<uint32_t> words) {
  ByteBuilder code(ByteOrder::kLittle);
  for (uint32_t word : words) code.u32(word);
  while (code.size() < 80) code.u32(0xd503201f);  // nop
  ElfBuilder elf(true, ByteOrder::kLittle, EM_AARCH64);
  elf.section(".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kText,
              std::string(as_text(code.view())));
  auto file = ElfFile::own(elf.build(), "test");
  EXPECT_TRUE(file.has_value());
  return CfiTable::build(*file, nullptr);
}

TEST(CfiTable, Arm64sPltLeavesTheReturnAddressInItsRegister) {
  constexpr uint8_t kLinkRegister = 30;
  constexpr uint32_t kPush = 0xa9bf7bf0, kBranchTarget = 0xd503245f;
  for (uint64_t push : {0U, 4U}) {
    CfiTable table = push == 0 ? table_of_plt({kPush}) : table_of_plt({kBranchTarget, kPush});
    for (uint64_t at : {push, uint64_t{32}, uint64_t{76}}) {
      const UnwindRule* rule = table.find(ElfAddr(kText + at));
      ASSERT_NE(rule, nullptr) << at;
      EXPECT_EQ(rule->cfa_register, 31) << at;
      EXPECT_EQ(rule->cfa_value, 0) << at;
      EXPECT_EQ(rule->return_register, kLinkRegister);
      EXPECT_EQ(rule->saved_count, 0) << at;
    }
    const UnwindRule* pushed = table.find(ElfAddr(kText + push + 4));
    ASSERT_NE(pushed, nullptr);
    EXPECT_EQ(pushed->cfa_value, 16);
    ASSERT_NE(saved(table, *pushed, kLinkRegister), nullptr);
    EXPECT_EQ(saved(table, *pushed, kLinkRegister)->value, -8);
    EXPECT_EQ(table.find(ElfAddr(kText + 80)), nullptr);
  }
  // Without a first entry there are only those that jump.
  EXPECT_EQ(table_of_plt({}).find(ElfAddr(kText + 8))->cfa_value, 0);
}

class Memory final : public FrameMemory {
 public:
  [[nodiscard]] std::optional<uint64_t> read(uint64_t address, uint32_t size) const override {
    return address == 0x100 ? std::optional<uint64_t>(size == 8 ? 0x1122334455667788 : 0x88)
                            : std::nullopt;
  }
};

std::optional<uint64_t> evaluate(std::initializer_list<int> code) {
  std::vector<std::byte> bytes;
  for (int byte : code) bytes.push_back(static_cast<std::byte>(byte));
  FrameRegisters registers;
  registers.set(7, 0xf8);
  registers.set(16, 0x402b);
  return evaluate_cfi(bytes, ByteOrder::kLittle, 8, registers, Memory(), std::nullopt);
}

TEST(CfiExpression, ThatOfPltEntries) {
  // From byte 11 of the 16 of an entry on, the index has been pushed and the stack is 8 deeper.
  EXPECT_EQ(evaluate({DW_OP_breg0 + 7, 8, DW_OP_breg0 + 16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
                      DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus}),
            0x108U);
}

TEST(CfiExpression, MemoryArithmeticAndJumps) {
  EXPECT_EQ(evaluate({DW_OP_breg0 + 7, 8, DW_OP_deref}), 0x1122334455667788U);
  EXPECT_EQ(evaluate({DW_OP_breg0 + 7, 8, DW_OP_deref_size, 1}), 0x88U);
  EXPECT_EQ(evaluate({DW_OP_const1s, 0xf6, DW_OP_lit3, DW_OP_div}), static_cast<uint64_t>(-3));
  EXPECT_EQ(evaluate({DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot, DW_OP_drop}), 1U);
  EXPECT_EQ(evaluate({DW_OP_lit7, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_neg}), 7U);
}

TEST(CfiExpression, WhatCannotBeKnownIsNothing) {
  EXPECT_FALSE(evaluate({}));
  EXPECT_FALSE(evaluate({DW_OP_plus}));
  EXPECT_FALSE(evaluate({DW_OP_breg0 + 1, 0})) << "a register that was not sampled";
  EXPECT_FALSE(evaluate({DW_OP_lit1, DW_OP_deref})) << "memory that was not copied";
  EXPECT_FALSE(evaluate({DW_OP_lit1, DW_OP_lit0, DW_OP_div}));
  EXPECT_FALSE(evaluate({DW_OP_skip, 0xfd, 0xff})) << "for ever";
  EXPECT_FALSE(evaluate({DW_OP_lit1, DW_OP_skip, 0x00, 0x7f})) << "out of the expression";
  EXPECT_FALSE(evaluate({DW_OP_const8u, 1, 2})) << "cut off";
}

}  // namespace
}  // namespace sonde
