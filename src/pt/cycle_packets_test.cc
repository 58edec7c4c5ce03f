#include "pt/cycle_packets.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::pt {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<uint8_t> raw) {
  std::vector<std::byte> bytes;
  for (uint8_t byte : raw) bytes.push_back(std::byte{byte});
  return bytes;
}

Instruction of_kind(InstructionKind kind) {
  Instruction instruction;
  instruction.kind = kind;
  return instruction;
}

// TNT of three branches, CYC 5, CYC 2, TNT of one, CYC of 7 and more bits
const std::vector<std::byte> kTrace = bytes_of({0x1c, 0x2b, 0x13, 0x06, 0x0f, 0x02});

TEST(CyclePackets, WaitForTheBranchesBeforeThem) {
  CyclePackets cycles(kTrace);
  cycles.begin(0);
  // libipt has read up to the second TNT when it tells of the first branch.
  cycles.ran(of_kind(InstructionKind::kConditional), 3);
  EXPECT_EQ(cycles.due(3), 0u);
  cycles.ran(of_kind(InstructionKind::kCall), 3);
  cycles.ran(of_kind(InstructionKind::kReturn), 3);
  EXPECT_EQ(cycles.due(3), 0u);
  cycles.ran(of_kind(InstructionKind::kConditional), 3);
  EXPECT_EQ(cycles.due(3), 7u);
  EXPECT_EQ(cycles.due(3), 0u);
  cycles.ran(of_kind(InstructionKind::kConditional), 6);
  EXPECT_EQ(cycles.due(6), 33u);
}

TEST(CyclePackets, AreForgottenWhereDecodingBeginsAnew) {
  CyclePackets cycles(kTrace);
  cycles.begin(0);
  EXPECT_EQ(cycles.due(3), 0u);
  cycles.begin(3);
  EXPECT_EQ(cycles.due(3), 0u);
  cycles.ran(of_kind(InstructionKind::kConditional), 4);
  EXPECT_EQ(cycles.due(100), 33u);
}

TEST(CyclePackets, WhatIsNoPacketIsSkipped) {
  std::vector<std::byte> trace = bytes_of({0x02, 0xff, 0x2b});
  CyclePackets cycles(trace);
  cycles.begin(0);
  EXPECT_EQ(cycles.due(2), 0u);
  EXPECT_EQ(cycles.due(3), 5u);
}

TEST(ConsumesTrace, IndirectBranchesDo) {
  Instruction call = of_kind(InstructionKind::kCall);
  call.size = 5;
  call.bytes = {0xe8, 0xff, 0xff, 0xff, 0xff};
  EXPECT_FALSE(consumes_trace(call));
  call.size = 3;
  call.bytes = {0x41, 0xff, 0xd3};  // call *%r11
  EXPECT_TRUE(consumes_trace(call));
  call.bytes = {0xf2, 0xeb, 0x10};  // bnd jmp
  EXPECT_FALSE(consumes_trace(call));
  EXPECT_TRUE(consumes_trace(of_kind(InstructionKind::kConditional)));
  EXPECT_FALSE(consumes_trace(of_kind(InstructionKind::kPtWrite)));
}

}  // namespace
}  // namespace sonde::pt
