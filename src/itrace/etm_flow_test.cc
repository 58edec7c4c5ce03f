#include "itrace/etm_flow.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace sonde::itrace {
namespace {

using Last = etm::ExecutedRange::Last;

class Story final : public pt::FlowObserver {
 public:
  void instruction(const pt::Instruction& i, uint64_t now) override {
    EXPECT_EQ(now, 9U);
    constexpr const char* kNames[] = {"",         " call",      " return",  " jump",    " jcc",
                                      " farcall", " farreturn", " farjump", " ptwrite", " syscall"};
    text += fmt::format("{:x}+{}{}\n", i.ip, i.size, kNames[static_cast<size_t>(i.kind)]);
  }
  void enabled(uint64_t ip, uint64_t /*now*/) override { text += fmt::format("on {:x}\n", ip); }
  void disabled(std::optional<uint64_t> at, std::optional<uint64_t> to, uint64_t /*now*/) override {
    text += fmt::format("off {:x} {:x}\n", at.value_or(0), to.value_or(0));
  }
  void interrupted(uint64_t from, std::optional<uint64_t> to, uint64_t /*now*/) override {
    text += fmt::format("interrupt {:x} {:x}\n", from, to.value_or(0));
  }
  void transaction(bool, bool, std::optional<uint64_t>, uint64_t) override {}
  void ptwrite(std::optional<uint64_t>, uint64_t, uint64_t) override {}
  void core_frequency(uint32_t, uint64_t) override {}
  void lost(pt::FlowError why, uint64_t ip, uint64_t /*now*/) override {
    text += fmt::format("lost {} {:x}\n", static_cast<int>(why), ip);
  }

  std::string text;
};

class EtmFlowTest : public testing::Test {
 protected:
  void ran(uint64_t start, uint64_t end, Last last = Last::kOther, bool is_conditional = false) {
    flow_.ran({.start = start,
               .end = end,
               .last_size = 4,
               .last = last,
               .is_conditional = is_conditional,
               .was_taken = last != Last::kOther,
               .is_thumb = is_thumb_},
              9);
  }
  std::string story() {
    flow_.interrupted(9);
    return story_.text;
  }

  bool is_thumb_ = false;
  Story story_;
  /// A nop of two bytes, and one of four.
  EtmFlow flow_{story_, [](uint64_t address, std::span<std::byte> to) {
                  uint16_t halfword = address % 6 == 0 ? 0xbf00 : 0xf3af;
                  std::memcpy(to.data(), &halfword, sizeof halfword);
                  return to.size();
                }};
};

TEST_F(EtmFlowTest, RangesAreInstructions) {
  ran(0x100, 0x108, Last::kJump, true);
  ran(0x200, 0x204, Last::kIndirectCall);
  ran(0x300, 0x304, Last::kReturn);
  EXPECT_EQ(story(), "on 100\n100+4\n104+4 jcc\n200+4 call\n300+4 return\noff 0 0\n");
}

TEST_F(EtmFlowTest, AnotherStretchBeginsAnew) {
  ran(0x100, 0x104);
  flow_.interrupted(9);
  flow_.interrupted(9);
  ran(0x100, 0x104);
  EXPECT_EQ(story(), "on 100\n100+4\noff 0 0\non 100\n100+4\noff 0 0\n");
}

TEST_F(EtmFlowTest, SystemCallsAreInstructions) {
  ran(0x100, 0x108);
  flow_.exception(2, 0x108, 9);
  ran(0x900, 0x904);
  EXPECT_EQ(story(), "on 100\n100+4\n104+4 syscall\n900+4\noff 0 0\n");
}

TEST_F(EtmFlowTest, InterruptsComeAfterAnInstruction) {
  ran(0x100, 0x108);
  flow_.exception(14, 0x108, 9);
  ran(0x900, 0x904);
  EXPECT_EQ(story(), "on 100\n100+4\n104+4\ninterrupt 104 900\n900+4\noff 0 0\n");
}

TEST_F(EtmFlowTest, InterruptsAtABranchsTargetAreThere) {
  ran(0x100, 0x104, Last::kJump);
  flow_.exception(14, 0x200, 9);
  EXPECT_EQ(story(), "on 100\n100+4 jump\noff 200 0\n");
}

TEST_F(EtmFlowTest, MissingCodeEndsIt) {
  ran(0x100, 0x104, Last::kJump);
  flow_.lost(etm::Lost::kNoCode, 0x200, 9);
  ran(0x300, 0x304);
  EXPECT_EQ(story(), "on 100\n100+4 jump\nlost 5 200\non 300\n300+4\noff 0 0\n");
}

TEST_F(EtmFlowTest, ThumbsInstructionsHaveTheirSizes) {
  is_thumb_ = true;
  ran(0x600, 0x60c, Last::kCall);
  EXPECT_EQ(story(), "on 600\n600+2\n602+4\n606+2\n608+4 call\noff 0 0\n");
}

TEST_F(EtmFlowTest, NothingIsMadeOfNothing) {
  ran(0x100, 0x100);
  flow_.exception(14, 0x200, 9);
  EXPECT_EQ(story(), "");
}

}  // namespace
}  // namespace sonde::itrace
