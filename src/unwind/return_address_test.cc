#include "unwind/return_address.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace sonde {
namespace {

std::vector<std::byte> code(std::initializer_list<int> bytes) {
  std::vector<std::byte> made;
  for (int byte : bytes) made.push_back(static_cast<std::byte>(byte));
  return made;
}

bool after_on_x86(std::initializer_list<int> bytes) {
  return can_return_to(abi::Arch::kX86_64, code(bytes), {});
}

TEST(ReturnAddress, FollowsEachFormOfACallOnX86) {
  EXPECT_TRUE(after_on_x86({0xe8, 0x01, 0x02, 0x03, 0x04}));              // call near
  EXPECT_TRUE(after_on_x86({0xff, 0xd0}));                                // call *%rax
  EXPECT_TRUE(after_on_x86({0x41, 0xff, 0xd4}));                          // call *%r12
  EXPECT_TRUE(after_on_x86({0xff, 0x10}));                                // call *(%rax)
  EXPECT_TRUE(after_on_x86({0xff, 0x50, 0x18}));                          // call *0x18(%rax)
  EXPECT_TRUE(after_on_x86({0xff, 0x90, 0x80, 0x01, 0x00, 0x00}));        // call *0x180(%rax)
  EXPECT_TRUE(after_on_x86({0xff, 0x15, 0x01, 0x02, 0x03, 0x00}));        // call *N(%rip)
  EXPECT_TRUE(after_on_x86({0xff, 0x14, 0xc8}));                          // call *(%rax,%rcx,8)
  EXPECT_TRUE(after_on_x86({0xff, 0x54, 0x24, 0x08}));                    // call *8(%rsp)
  EXPECT_TRUE(after_on_x86({0xff, 0x94, 0xc8, 0x00, 0x01, 0x00, 0x00}));  // call *256(%rax,%rcx,8)
  EXPECT_TRUE(after_on_x86({0xff, 0x14, 0xc5, 0x00, 0x01, 0x00, 0x00}));  // call *256(,%rax,8)
}

TEST(ReturnAddress, DoesNotFollowOtherInstructionsOnX86) {
  EXPECT_FALSE(after_on_x86({}));
  EXPECT_FALSE(after_on_x86({0xd0}));
  EXPECT_FALSE(after_on_x86({0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}));
  EXPECT_FALSE(after_on_x86({0xe8, 0x01, 0x02, 0x03}));                    // cut off by the start
  EXPECT_FALSE(after_on_x86({0xe9, 0x01, 0x02, 0x03, 0x04}));              // jmp
  EXPECT_FALSE(after_on_x86({0xff, 0xe0}));                                // jmp *%rax
  EXPECT_FALSE(after_on_x86({0xff, 0xd0, 0x90}));                          // not right in front
  EXPECT_FALSE(after_on_x86({0xff, 0x50}));                                // without its offset
  EXPECT_FALSE(after_on_x86({0x48, 0x89, 0xe5, 0x41, 0x57, 0x41, 0x56}));  // a prologue
}

TEST(ReturnAddress, MayBePutThereBySystemCodeOnX86) {
  std::vector<std::byte> restore = code({0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05});
  EXPECT_TRUE(can_return_to(abi::Arch::kX86_64, {}, restore));
  EXPECT_FALSE(can_return_to(abi::Arch::kX86_64, {}, Bytes(restore).first(8)));
  EXPECT_TRUE(can_return_to(abi::Arch::kX86_64, code({0x90}), code({0xe8, 1, 2, 3, 4, 0x90})));
  EXPECT_FALSE(can_return_to(abi::Arch::kX86_64, code({0x90}), code({0x90})));
}

TEST(ReturnAddress, FollowsACallOnArm64) {
  auto after = [](std::initializer_list<int> bytes) {
    return can_return_to(abi::Arch::kArm64, code(bytes), {});
  };
  EXPECT_TRUE(after({0x04, 0x00, 0x00, 0x94}));   // bl
  EXPECT_TRUE(after({0xfc, 0xff, 0xff, 0x97}));   // bl, backwards
  EXPECT_TRUE(after({0x60, 0x02, 0x3f, 0xd6}));   // blr x19
  EXPECT_TRUE(after({0x1f, 0x08, 0x3f, 0xd6}));   // blraaz x0
  EXPECT_FALSE(after({0x60, 0x02, 0x1f, 0xd6}));  // br x19
  EXPECT_FALSE(after({0xc0, 0x03, 0x5f, 0xd6}));  // ret
  EXPECT_FALSE(after({0x00, 0x00, 0x94}));
  std::vector<std::byte> restore = code({0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4});
  EXPECT_TRUE(can_return_to(abi::Arch::kArm64, {}, restore));
  EXPECT_TRUE(can_return_to(abi::Arch::kArm64, code({0x1f, 0x20, 0x03, 0xd5}),
                            code({0x04, 0x00, 0x00, 0x94})));
}

TEST(ReturnAddress, IsBelievedOfOtherProcessors) {
  EXPECT_TRUE(can_return_to(abi::Arch::kUnknown, {}, {}));
}

}  // namespace
}  // namespace sonde
