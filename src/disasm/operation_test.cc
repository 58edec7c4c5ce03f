#include "disasm/operation.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace sonde::disasm {
namespace {

constexpr uint8_t kRax = 0, kRcx = 2, kRbx = 3, kRdi = 5, kRsp = 7;

Operation decode(abi::Arch arch, std::initializer_list<uint8_t> code, uint64_t address = 0x1000) {
  std::vector<std::byte> bytes;
  for (uint8_t byte : code) bytes.push_back(std::byte{byte});
  return OperationDecoder::make(arch, true).value().decode(bytes, address);
}
Operation x86(std::initializer_list<uint8_t> code) {
  return decode(abi::Arch::kX86_64, code);
}

TEST(Operation, LoadOfAMember) {
  Operation load = x86({0x48, 0x8b, 0x47, 0x10});  // mov 0x10(%rdi),%rax
  EXPECT_EQ(load.length, 4);
  EXPECT_EQ(load.move, DataMove::kLoad);
  EXPECT_EQ(load.to, kRax);
  ASSERT_TRUE(load.memory);
  EXPECT_EQ(load.memory->base, kRdi);
  EXPECT_EQ(load.memory->displacement, 0x10);
  EXPECT_EQ(load.memory->size, 8);
  EXPECT_TRUE(load.memory->is_read);
  EXPECT_FALSE(load.memory->is_written);
  EXPECT_EQ(load.written, 1u << kRax);
}

TEST(Operation, HalfARegisterIsNoPointer) {
  Operation load = x86({0x8b, 0x47, 0x10});  // mov 0x10(%rdi),%eax
  EXPECT_EQ(load.move, DataMove::kNone);
  EXPECT_EQ(load.memory->size, 4);
  EXPECT_EQ(load.written, 1u << kRax);
}

TEST(Operation, AnAddressTouchesNothing) {
  Operation lea = x86({0x48, 0x8d, 0x0c, 0xd8});  // lea (%rax,%rbx,8),%rcx
  EXPECT_EQ(lea.move, DataMove::kAddress);
  EXPECT_EQ(lea.to, kRcx);
  EXPECT_EQ(lea.memory->index, kRbx);
  EXPECT_EQ(lea.memory->scale, 8);
  EXPECT_FALSE(lea.memory->is_read || lea.memory->is_written);
  Operation nop = x86({0x0f, 0x1f, 0x40, 0x00});  // nopl 0x0(%rax)
  EXPECT_FALSE(nop.memory);
}

TEST(Operation, RelativeToTheProgramCounter) {
  Operation load = x86({0x8b, 0x05, 0x00, 0x01, 0x00, 0x00});  // mov 0x100(%rip),%eax
  ASSERT_TRUE(load.memory && load.memory->address);
  EXPECT_EQ(*load.memory->address, 0x1106);
}

TEST(Operation, TheStack) {
  Operation push = x86({0x53});  // push %rbx
  EXPECT_TRUE(push.is_stack);
  EXPECT_FALSE(push.memory);
  EXPECT_EQ(push.stack_change, -8);
  Operation sub = x86({0x48, 0x83, 0xec, 0x28});  // sub $0x28,%rsp
  EXPECT_EQ(sub.move, DataMove::kAdd);
  EXPECT_EQ(sub.to, kRsp);
  EXPECT_EQ(sub.value, -0x28);
}

TEST(Operation, TheGuardOfTheStack) {
  // mov %fs:0x28,%rax
  Operation load = x86({0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0x00, 0x00, 0x00});
  ASSERT_TRUE(load.memory);
  EXPECT_TRUE(load.memory->of_thread);
  EXPECT_EQ(load.memory->displacement, 0x28);
}

TEST(Operation, Jumps) {
  Operation jump = x86({0x75, 0x10});  // jne +0x10
  EXPECT_EQ(jump.flow, Flow::kJump);
  EXPECT_TRUE(jump.is_conditional);
  EXPECT_EQ(jump.target, 0x1012u);
  EXPECT_EQ(x86({0xc3}).flow, Flow::kReturn);
  EXPECT_EQ(x86({0x06}).length, 0);  // no instruction
}

TEST(Operation, Arm64) {
  Operation load = decode(abi::Arch::kArm64, {0x01, 0x08, 0x40, 0xf9});  // ldr x1, [x0, #16]
  EXPECT_EQ(load.move, DataMove::kLoad);
  EXPECT_EQ(load.to, 1);
  ASSERT_TRUE(load.memory);
  EXPECT_EQ(load.memory->base, 0);
  EXPECT_EQ(load.memory->displacement, 16);
  EXPECT_EQ(load.memory->size, 8);
  // stp x29, x30, [sp, #-32]!
  Operation save = decode(abi::Arch::kArm64, {0xfd, 0x7b, 0xbe, 0xa9});
  EXPECT_TRUE(save.is_stack);
  EXPECT_EQ(save.base_change, -32);
  EXPECT_FALSE(save.base_after);
  Operation add = decode(abi::Arch::kArm64, {0x00, 0x60, 0x00, 0x91});  // add x0, x0, #24
  EXPECT_EQ(add.move, DataMove::kAdd);
  EXPECT_EQ(add.value, 24);
}

}  // namespace
}  // namespace sonde::disasm
