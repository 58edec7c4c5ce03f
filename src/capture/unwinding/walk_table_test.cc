#include "capture/unwinding/walk_table.h"

#include <elf.h>
#include <gtest/gtest.h>

#include "bpf/unwinding/walk_machine.h"
#include "dwarf/debug_frame_builder.h"
#include "elf/elf_builder.h"
#include "elf/elf_file.h"

namespace sonde {
namespace {

constexpr uint64_t kCode = 0x401000, kOffset = 0x1000;
constexpr int kStackPointer = 7, kReturnAddress = 16;

walk_machine x86() {
  return *walk_machine_of(abi::Arch::kX86_64);
}
walk_machine arm64() {
  return *walk_machine_of(abi::Arch::kArm64);
}

CfiTable table_of(const DebugFrameBuilder& frames) {
  ElfBuilder elf;
  elf.section(".debug_frame", SHT_PROGBITS, 0, 0, frames.content());
  auto file = ElfFile::own(elf.build(), "test");
  EXPECT_TRUE(file.has_value());
  return CfiTable::build(*file, nullptr);
}

SegmentMap one_segment() {
  SegmentMap segments;
  segments.add({.offset = FileOffset(kOffset),
                .addr = ElfAddr(kCode),
                .file_size = 0x1000,
                .memory_size = 0x1000,
                .executable = true});
  return segments;
}

/// The rule that a program of call frame instructions leads to.
walk_rule rule_after(std::initializer_list<int> program) {
  DebugFrameBuilder frames(kStackPointer, kReturnAddress);
  frames.function(kCode, program);
  CfiTable table = table_of(frames);
  const UnwindRule* rule = table.find(ElfAddr(kCode));
  return rule == nullptr ? walk_rule{} : walk_rule_of(table, *rule, x86());
}

TEST(WalkTable, RowsAreByFileOffsetAndEndWithTheirFunction) {
  DebugFrameBuilder frames(kStackPointer, kReturnAddress);
  frames.function(kCode, {DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16});
  frames.function(kCode + 0x800, {});
  WalkRules rules(x86());
  std::vector<walk_row> rows = walk_rows(table_of(frames), one_segment(), rules);
  std::vector<uint32_t> starts, numbers;
  for (const walk_row& row : rows) {
    starts.push_back(row.start);
    numbers.push_back(row.rule);
  }
  EXPECT_EQ(starts, (std::vector<uint32_t>{0x1000, 0x1004, 0x1100, 0x1800, 0x1900, 0x2000}));
  EXPECT_EQ(numbers[2], 0u);
  EXPECT_EQ(numbers[0], numbers[3]);  // objects and functions share rules
  EXPECT_NE(numbers[0], numbers[1]);
  EXPECT_EQ(rules.added(numbers[1])[0].value, 16);
}

TEST(WalkTable, ASavedRegisterIsRelativeToTheCfa) {
  walk_rule rule = rule_after({DW_CFA_offset | 6, 2});
  ASSERT_EQ(rule.saved_count, 2u);
  EXPECT_EQ(rule.saved[0].reg, 6);
  EXPECT_EQ(rule.saved[0].how, WALK_AT_CFA);
  EXPECT_EQ(rule.saved[0].value, -16);
  EXPECT_EQ(rule.cfa, WALK_CFA_PLUS);
  EXPECT_EQ(rule.cfa_base, kStackPointer);
}

TEST(WalkTable, TheExpressionOfAPltEntry) {
  walk_rule rule =
      rule_after({DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
                  DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus});
  EXPECT_EQ(rule.cfa, WALK_CFA_PLT);
  EXPECT_EQ(rule.value, 8);
  EXPECT_EQ(rule.extra, 11);
}

TEST(WalkTable, ARealignedStackIsFoundThroughMemory) {
  walk_rule rule = rule_after({DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref,
                               DW_CFA_expression, 3, 2, DW_OP_breg6, 0x70});
  EXPECT_EQ(rule.cfa, WALK_CFA_DEREF);
  EXPECT_EQ(rule.cfa_base, 6);
  EXPECT_EQ(rule.value, -8);
  EXPECT_EQ(rule.base, 6);
  EXPECT_EQ(rule.saved[0].how, WALK_AT_BASE);
  EXPECT_EQ(rule.saved[0].value, -16);
}

TEST(WalkTable, WhatItCannotExpressEndsTheChain) {
  // A product; registers of two kinds besides the CFA.
  EXPECT_EQ(rule_after({DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 8, DW_OP_lit3, DW_OP_mul}).flags,
            WALK_NOT_EXPRESSIBLE);
  EXPECT_EQ(rule_after(
                {DW_CFA_expression, 3, 2, DW_OP_breg6, 0, DW_CFA_expression, 12, 2, DW_OP_breg7, 0})
                .flags,
            WALK_NOT_EXPRESSIBLE);
  EXPECT_EQ(rule_after({DW_CFA_undefined, kReturnAddress}).flags, WALK_IS_OUTERMOST);
}

/// The same, of an arm64 object: at a function's entry, the return address is in x30.
walk_rule arm64_rule_after(std::initializer_list<int> program) {
  DebugFrameBuilder frames = DebugFrameBuilder::for_arm64();
  frames.function(kCode, program);
  ElfBuilder elf(true, ByteOrder::kLittle, EM_AARCH64);
  elf.section(".debug_frame", SHT_PROGBITS, 0, 0, frames.content());
  auto file = ElfFile::own(elf.build(), "test");
  EXPECT_TRUE(file.has_value());
  CfiTable table = CfiTable::build(*file, nullptr);
  const UnwindRule* rule = table.find(ElfAddr(kCode));
  return rule == nullptr ? walk_rule{} : walk_rule_of(table, *rule, arm64());
}

TEST(WalkTable, ALeafOnArm64ReturnsToItsLinkRegister) {
  walk_rule rule = arm64_rule_after({});
  EXPECT_EQ(rule.flags, 0);
  EXPECT_EQ(rule.cfa, WALK_CFA_PLUS);
  EXPECT_EQ(rule.cfa_base, 31);
  EXPECT_EQ(rule.value, 0);
  EXPECT_EQ(rule.saved_count, 0u);
}

TEST(WalkTable, AFrameRecordOnArm64) {
  constexpr int kNegateReturnState = 0x2d;
  // paciasp; stp x29, x30, [sp, #-32]!; mov x29, sp
  walk_rule rule = arm64_rule_after(
      {kNegateReturnState, DW_CFA_def_cfa, 29, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3});
  EXPECT_EQ(rule.flags, 0);
  EXPECT_EQ(rule.cfa_base, 29);
  EXPECT_EQ(rule.value, 32);
  ASSERT_EQ(rule.saved_count, 2u);
  EXPECT_EQ(rule.saved[0].reg, 29);
  EXPECT_EQ(rule.saved[0].how, WALK_AT_CFA);
  EXPECT_EQ(rule.saved[0].value, -32);
  EXPECT_EQ(rule.saved[1].reg, 30);
  EXPECT_EQ(rule.saved[1].value, -24);
}

TEST(WalkTable, AReturnAddressInAnotherRegisterOfArm64) {
  walk_rule rule = arm64_rule_after({DW_CFA_register, 30, 9});
  ASSERT_EQ(rule.saved_count, 1u);
  EXPECT_EQ(rule.saved[0].how, WALK_IS_BASE);
  EXPECT_EQ(rule.base, 9);
  EXPECT_EQ(arm64_rule_after({DW_CFA_undefined, 30}).flags, WALK_IS_OUTERMOST);
}

TEST(WalkTable, VectorRegistersSayNothingAboutFrames) {
  // d8 is 72: DW_CFA_offset_extended.
  EXPECT_EQ(
      arm64_rule_after({DW_CFA_def_cfa_offset, 16, DW_CFA_offset_extended, 72, 2}).saved_count, 0u);
}

TEST(WalkTable, APltExpressionIsOnlyX86s) {
  EXPECT_EQ(arm64_rule_after({DW_CFA_def_cfa_expression, 11, DW_OP_breg31, 8, DW_OP_breg30, 0,
                              DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
                              DW_OP_plus})
                .flags,
            WALK_NOT_EXPRESSIBLE);
}

TEST(WalkTable, AnObjectOfAnotherMachineHasNoRules) {
  DebugFrameBuilder frames(kStackPointer, kReturnAddress);
  frames.function(kCode, {});
  CfiTable table = table_of(frames);
  EXPECT_EQ(walk_rule_of(table, *table.find(ElfAddr(kCode)), arm64()).flags, WALK_NOT_EXPRESSIBLE);
}

TEST(WalkTable, AFunctionsUsualFrameIsThatOfMostOfItsCode) {
  WalkRules rules(x86());
  auto by_stack = [&](uint8_t base, int32_t bytes) {
    walk_rule rule{};
    rule.cfa_base = base;
    rule.value = bytes;
    return rules.number_of(rule);
  };
  std::vector<walk_row> rows = {{0, by_stack(7, 16)},    {100, by_stack(7, 8)},
                                {110, by_stack(7, 416)}, {400, by_stack(7, 432)},
                                {410, by_stack(7, 416)}, {500, by_stack(6, 16)}};
  EXPECT_EQ(usual_frame_bytes(rows, rules, 100, 500), 416u);
  EXPECT_EQ(usual_frame_bytes(rows, rules, 20, 130), 16u);
  EXPECT_EQ(usual_frame_bytes(rows, rules, 500, 600), 0u);
  EXPECT_EQ(usual_frame_bytes({}, rules, 0, 100), 0u);
}

TEST(WalkTable, RowsGetTheNumbersOfSharedRules) {
  auto rule_with = [](int32_t value) {
    walk_rule rule{};
    rule.value = value;
    return rule;
  };
  WalkRules shared(x86()), own(x86());
  (void)shared.number_of(rule_with(1));
  std::vector<walk_row> rows = {{0, own.number_of(rule_with(2))},
                                {8, own.number_of(rule_with(1))},
                                {16, own.number_of(walk_rule{})},
                                {24, 0}};
  shared.adopt(own, rows);
  EXPECT_EQ(shared.added(rows[0].rule)[0].value, 2);
  EXPECT_EQ(shared.added(rows[1].rule)[0].value, 1);
  EXPECT_EQ(rows[1].rule, shared.number_of(rule_with(1)));
  EXPECT_EQ(rows[3].rule, 0u) << "nothing is known";
}

TEST(WalkTable, RulesBeyondTheLimitEndChains) {
  WalkRules rules(x86());
  walk_rule rule{};
  for (int32_t i = 0; i < WALK_RULES; ++i) {
    rule.value = i;
    (void)rules.number_of(rule);
  }
  EXPECT_EQ(rules.size(), size_t{WALK_RULES});
  rule.value = -1;
  EXPECT_EQ(rules.added(rules.number_of(rule))[0].flags, WALK_NOT_EXPRESSIBLE);
}

}  // namespace
}  // namespace sonde
