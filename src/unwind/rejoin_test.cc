#include "unwind/rejoin.h"

#include <gtest/gtest.h>

#include "perfdata/header/features.h"

namespace sonde {
namespace {

constexpr uint64_t kStack = 0x7ffc'0000'0000;
using Addresses = std::vector<uint64_t>;

/// `words` is the stack copy; frames link to each other at 16, 48 and 96 bytes of the stack.
Addresses rest(uint64_t last_stack_pointer, std::vector<uint64_t> words, Addresses kernel,
               uint64_t frame = kStack + 16, abi::Arch arch = abi::Arch::kX86_64) {
  uint64_t regs[] = {frame, kStack};
  Sample sample;
  sample.regs_user.abi = abi::kRegsAbi64;
  sample.regs_user.mask = arch == abi::Arch::kArm64 ? uint64_t{1} << 29 | uint64_t{1} << 31
                                                    : uint64_t{1} << 6 | uint64_t{1} << 7;
  sample.regs_user.words = WordView(std::as_bytes(std::span(regs)), kHostOrder);
  sample.stack_user = std::as_bytes(std::span(words));
  auto found = rest_of_chain(sample, arch, last_stack_pointer, kernel);
  return {found.begin(), found.end()};
}

const std::vector<uint64_t> kCopied{0, 0, kStack + 48, 0x1111, 0, 0, kStack + 96, 0x2222, 0};
const Addresses kKernel{0x1000, 0x1111, 0x2222, 0x3333, 0x4444};

TEST(Rejoin, GoesOnBehindTheCopy) {
  EXPECT_EQ(rest(kStack + 64, kCopied, kKernel), (Addresses{0x3333, 0x4444}));
}

TEST(Rejoin, GoesOnBehindTheLastFrame) {
  EXPECT_EQ(rest(kStack + 32, kCopied, kKernel), (Addresses{0x2222, 0x3333, 0x4444}));
  EXPECT_EQ(rest(kStack, kCopied, kKernel), (Addresses{0x1111, 0x2222, 0x3333, 0x4444}));
}

TEST(Rejoin, LeavesOutWhatDoesNotFit) {
  EXPECT_EQ(rest(kStack + 64, kCopied, {0x1000, 0x1111, 0x9999, 0x3333}), Addresses{}) << "another";
  EXPECT_EQ(rest(kStack + 64, kCopied, {0x1000, 0x1111}), Addresses{}) << "reaches no further";
  EXPECT_EQ(rest(kStack + 64, kCopied, {}), Addresses{});
  EXPECT_EQ(rest(kStack + 64, kCopied, kKernel, kStack - 8), Addresses{}) << "no frame pointer";
  EXPECT_EQ(rest(kStack + 64, {0, 0, kStack + 16, 0x1111}, kKernel), Addresses{}) << "a circle";
  EXPECT_EQ(rest(kStack + 64, {0, 0, kStack + 48}, kKernel), Addresses{}) << "cut in a frame";
}

TEST(Rejoin, LooksPastSignaturesOfArm64) {
  std::vector<uint64_t> words = kCopied;
  words[3] |= uint64_t{0x2a} << 48;
  EXPECT_EQ(rest(kStack + 32, words, kKernel, kStack + 16, abi::Arch::kArm64),
            (Addresses{0x2222, 0x3333, 0x4444}));
  EXPECT_EQ(rest(kStack + 32, kCopied, kKernel, kStack + 16, abi::Arch::kUnknown), Addresses{});
}

TEST(Rejoin, GoesOnWithAWalkedChain) {
  auto rest_of = [](Addresses unwound, Addresses walked) {
    auto found = rest_of_walked(unwound, walked);
    return Addresses(found.begin(), found.end());
  };
  EXPECT_EQ(rest_of({1, 2}, {1, 2, 3, 4}), (Addresses{3, 4}));
  EXPECT_EQ(rest_of({1}, {1, 2}), (Addresses{2}));
  EXPECT_EQ(rest_of({1, 2}, {1, 2}), Addresses{}) << "reaches no further";
  EXPECT_EQ(rest_of({1, 5}, {1, 2, 3}), Addresses{}) << "another";
  // 10 and 11 are the loop's frames; it runs two functions, and then one.
  constexpr uint64_t kPython = kInterpretedBase + 7;
  EXPECT_EQ(rest_of({1, 10, 2}, {1, kPython, kPython, 2, 3}), (Addresses{3}));
  EXPECT_EQ(rest_of({10, 11, 2}, {kPython, kPython, kPython, 2, 3}), (Addresses{3}));
  EXPECT_EQ(rest_of({1, 10}, {1, kPython, 2}), (Addresses{2}));
}

}  // namespace
}  // namespace sonde
