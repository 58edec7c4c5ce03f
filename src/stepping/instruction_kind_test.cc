#include "stepping/instruction_kind.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace sonde {
namespace {

StepInstruction classify(std::initializer_list<int> bytes, uint64_t ip = 0x1000) {
  std::vector<std::byte> code;
  for (int byte : bytes) code.push_back(static_cast<std::byte>(byte));
  code.resize(code.size() + 15, std::byte{0x90});
  return classify_step(code, ip);
}

TEST(InstructionKind, BranchesWithTheirTargets) {
  StepInstruction jump = classify({0x74, 0xfe});  // je 1000
  EXPECT_EQ(jump.kind, StepKind::kConditional);
  EXPECT_EQ(jump.target, 0x1000u);
  jump = classify({0x0f, 0x85, 0x10, 0, 0, 0});  // jne 1016
  EXPECT_EQ(jump.kind, StepKind::kConditional);
  EXPECT_EQ(jump.target, 0x1016u);
  EXPECT_EQ(jump.length, 6);
  EXPECT_EQ(classify({0xe2, 0xfe}).kind, StepKind::kConditional);  // loop
  StepInstruction call = classify({0xe8, 0xfb, 0xff, 0xff, 0xff});
  EXPECT_EQ(call.kind, StepKind::kDirect);
  EXPECT_EQ(call.target, 0x1000u);
  EXPECT_EQ(classify({0xf2, 0xe9, 0, 0, 0, 0}).target, 0x1006u);  // bnd jmp
}

TEST(InstructionKind, WhatOnlyRunningShows) {
  EXPECT_EQ(classify({0xc3}).kind, StepKind::kIndirect);
  EXPECT_EQ(classify({0xf3, 0xc3}).kind, StepKind::kIndirect);        // rep ret
  EXPECT_EQ(classify({0xff, 0xd0}).kind, StepKind::kIndirect);        // call *%rax
  EXPECT_EQ(classify({0x41, 0xff, 0xe3}).kind, StepKind::kIndirect);  // jmp *%r11
  EXPECT_EQ(classify({0x3e, 0xff, 0xe0}).kind, StepKind::kIndirect);  // notrack jmp *%rax
  EXPECT_EQ(classify({0xff, 0xc0}).kind, StepKind::kPlain);           // inc %eax
  EXPECT_EQ(classify({0xff, 0x30}).kind, StepKind::kPlain);           // push (%rax)
}

TEST(InstructionKind, TheRest) {
  EXPECT_EQ(classify({0x0f, 0x05}).kind, StepKind::kFar);
  EXPECT_EQ(classify({0xcc}).kind, StepKind::kFar);
  EXPECT_EQ(classify({0xf3, 0xa4}).kind, StepKind::kRepeat);        // rep movsb
  EXPECT_EQ(classify({0xf3, 0x48, 0xab}).kind, StepKind::kRepeat);  // rep stosq
  EXPECT_EQ(classify({0xa4}).kind, StepKind::kPlain);
  EXPECT_EQ(classify({0x9c}).kind, StepKind::kPushFlags);
  EXPECT_EQ(classify({0xf3, 0x0f, 0x1e, 0xfa}).kind, StepKind::kPlain);  // endbr64
  // The second byte of a VEX prefix is no opcode: vpcmpeqb.
  EXPECT_EQ(classify({0xc5, 0xf9, 0x74, 0xc1}).kind, StepKind::kPlain);
  EXPECT_EQ(classify({0x06}).length, 0);  // not in 64-bit code
}

}  // namespace
}  // namespace sonde
