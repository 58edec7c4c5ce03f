#include "pt/flow_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "pt/trace_builder.h"
#include "pt/walker.h"

#if __has_include(<intel-pt.h>)

namespace sonde::pt {
namespace {

using ::testing::ElementsAre;

constexpr uint64_t kStart = 0x401000;

/// 401000 call 401010;  401005 jmp 401005;  401007 syscall;
/// 401010 jne 401014;  401012 nop;  401013 nop;  401014 ret
const std::vector<uint8_t> kProgram = {0xe8, 0x0b, 0, 0, 0, 0xeb, 0xfe, 0x0f, 0x05, 0,   0,
                                       0,    0,    0, 0, 0, 0x75, 0x02, 0x90, 0x90, 0xc3};

class Code final : public CodeReader {
 public:
  explicit Code(std::vector<uint8_t> program) : program_(std::move(program)) {}
  size_t read(uint64_t address, std::span<std::byte> to, uint64_t) override {
    if (address < kStart || address - kStart >= program_.size()) return 0;
    size_t at = address - kStart;
    size_t count = std::min(to.size(), program_.size() - at);
    std::memcpy(to.data(), program_.data() + at, count);
    return count;
  }

 private:
  std::vector<uint8_t> program_;
};

class Lines final : public FlowObserver {
 public:
  void instruction(const Instruction& i, uint64_t now) override {
    if (++instructions < 100) add("{:x} at {}", i.ip, now);
  }
  void enabled(uint64_t ip, uint64_t) override { add("on {:x}", ip); }
  void disabled(std::optional<uint64_t> at, std::optional<uint64_t> to, uint64_t) override {
    add("off {:x} {:x}", at.value_or(0), to.value_or(0));
  }
  void interrupted(uint64_t from, std::optional<uint64_t> to, uint64_t) override {
    add("interrupt {:x} {:x}", from, to.value_or(0));
  }
  void transaction(bool, bool, std::optional<uint64_t>, uint64_t) override {}
  void ptwrite(std::optional<uint64_t>, uint64_t value, uint64_t) override { add("{:x}", value); }
  void core_frequency(uint32_t, uint64_t) override {}
  void lost(FlowError why, uint64_t ip, uint64_t) override { add("{} {:x}", describe(why), ip); }

  std::vector<std::string> all;
  size_t instructions = 0;

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    all.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
};

std::vector<std::string> lines_of(const TraceBuilder& trace, const TraceSetup& setup = {},
                                  const std::vector<uint8_t>& program = kProgram) {
  Code code(program);
  Lines lines;
  EXPECT_TRUE(follow(trace.view(), setup, code, lines));
  return lines.all;
}

TEST(FlowDecoder, FollowsCallsAndConditionalBranches) {
  TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(kStart);
  trace.branches("N");
  trace.target(kStart + 7);  // a return that is not compressed
  trace.disable();
  EXPECT_THAT(lines_of(trace),
              ElementsAre("on 401000", "401000 at 100", "401010 at 100", "401012 at 100",
                          "401013 at 100", "401014 at 100", "401007 at 100", "off 0 0"));
}

TEST(FlowDecoder, TakenBranchAndInterrupt) {
  TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(kStart + 0x10);
  trace.branches("T");
  trace.disable_at(kStart + 0x14, 0x402000);
  EXPECT_THAT(lines_of(trace), ElementsAre("on 401010", "401010 at 100", "off 401014 402000"));
}

TEST(FlowDecoder, ContinuesAtTheNextPsbAfterCodeThatIsNotThere) {
  TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(0x500000);
  trace.branches("TTT");
  trace.synchronize(200);
  trace.enable(kStart + 7);
  trace.disable();
  EXPECT_THAT(lines_of(trace), ElementsAre("on 500000", "Failed to get instruction 500000",
                                           "on 401007", "401007 at 200", "off 0 0"));
}

TEST(FlowDecoder, TellsWhatTheProcessorDropped) {
  TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(kStart + 0x10);
  trace.overflow();
  trace.bytes({0x7d, 0x07, 0x10, 0x40, 0, 0, 0});  // FUP 401007
  trace.disable();
  auto lines = lines_of(trace);
  EXPECT_THAT(lines, ::testing::Contains("Overflow packet 401007"));
}

TEST(FlowDecoder, DamageDoesNotHideWhatWasAskedFor) {
  TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(kStart);
  trace.bytes({0x02, 0x12, 0x77, 0, 0, 0});  // PTW
  trace.disable();
  trace.synchronize(200);
  trace.enable(kStart + 4);
  trace.disable();
  trace.bytes({0x05, 0xb9});  // no packet
  trace.synchronize(300);
  std::vector<uint8_t> program = {0xf3, 0x0f, 0xae, 0xe0, 0x0f, 0x05};  // ptwrite %eax; syscall
  TraceSetup setup;
  setup.traces_other = true;
  auto lines = lines_of(trace, setup, program);
  EXPECT_THAT(lines, ::testing::IsSupersetOf({"401000 at 100", "77", "401004 at 100"}));
  EXPECT_THAT(lines, ::testing::Contains(::testing::StartsWith("Bad packet")));
}

TEST(FlowDecoder, CodeInCirclesEnds) {
  TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(kStart + 5);  // jmp to itself
  trace.branches("T");
  Code code(kProgram);
  Lines lines;
  ASSERT_TRUE(follow(trace.view(), {}, code, lines));
  EXPECT_LT(lines.instructions, size_t{3} << 20);
}

TEST(FlowDecoder, WhatLoopsCostIsBoundedByTheBytesThatLeadThere) {
  constexpr size_t kLoops = 300;
  TraceBuilder trace;
  for (size_t i = 0; i < kLoops; ++i) {
    trace.synchronize(100);
    trace.enable(kStart + 5);  // jmp to itself
    trace.branches("T");
  }
  size_t most = trace.view().size() * 64 + kLoops * 4096;
  for (auto follow_by : {&follow, &follow_by_libipt}) {
    Code code(kProgram);
    Lines lines;
    ASSERT_TRUE(follow_by(trace.view(), {}, code, lines));
    EXPECT_LT(lines.instructions, most);
    EXPECT_EQ(static_cast<size_t>(std::ranges::count_if(
                  lines.all, [](const auto& line) { return line.starts_with("Never-ending"); })),
              kLoops);
  }
}

/// The program in a file, from some version on another program.
class FileCode final : public CodeReader {
 public:
  FileCode() {
    std::vector<uint8_t> other = kProgram;
    other[0x12] = 0xc3;  // ret instead of nop
    write("first", kProgram);
    write("other", other);
  }
  ~FileCode() override { std::filesystem::remove_all(directory_); }
  size_t read(uint64_t address, std::span<std::byte> to, uint64_t tsc) override {
    reads += 1;
    return Code(program_[tsc >= kOtherFrom]).read(address, to, tsc);
  }
  std::optional<FilePart> file_part(uint64_t /*address*/, uint64_t tsc) override {
    return FilePart{directory_ + (tsc >= kOtherFrom ? "other" : "first"), 0, kProgram.size(),
                    kStart};
  }
  uint64_t version(uint64_t tsc) override { return tsc >= kOtherFrom ? 1 : 0; }

  static constexpr uint64_t kOtherFrom = 200;
  size_t reads = 0;

 private:
  void write(const char* name, const std::vector<uint8_t>& program) {
    std::filesystem::create_directories(directory_);
    std::ofstream(directory_ + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(program.data()),
               static_cast<std::streamsize>(program.size()));
    program_.push_back(program);
  }
  std::string directory_ = testing::TempDir() + "pt_code." + std::to_string(::getpid()) + "/";
  std::vector<std::vector<uint8_t>> program_;
};

TEST(FlowDecoder, ReadsFilesUntilTheCodeIsAnother) {
  TraceBuilder trace;
  for (uint64_t time : {uint64_t{100}, uint64_t{200}}) {
    trace.synchronize(time);
    for (int round = 0; round < 1000; ++round) {
      trace.enable(kStart + 0x10);
      trace.branches("N");
      trace.target(kStart + 7);
      trace.disable();
    }
  }
  FileCode code;
  Lines lines;
  ASSERT_TRUE(follow(trace.view(), {}, code, lines));
  EXPECT_EQ(lines.instructions, size_t{1000 * 5 + 1000 * 3});
  EXPECT_LT(code.reads, size_t{100});
}

TEST(FlowDecoder, BlocksHaveTheSizesOfTheirInstructions) {
  class Sizes final : public FlowObserver {
   public:
    void instruction(const Instruction&, uint64_t) override { ADD_FAILURE(); }
    void ran(const Block& block, BlockSizes& sizes, uint64_t now) override {
      EXPECT_EQ(now, 100U);
      std::string text;
      for (uint8_t size : sizes.of(block)) text += fmt::format(" {}", size);
      blocks.push_back(fmt::format("{:x}{} {:x}", block.ip, text, block.last.ip));
    }
    void enabled(uint64_t, uint64_t) override {}
    void disabled(std::optional<uint64_t>, std::optional<uint64_t>, uint64_t) override {}
    void interrupted(uint64_t, std::optional<uint64_t>, uint64_t) override {}
    void transaction(bool, bool, std::optional<uint64_t>, uint64_t) override {}
    void ptwrite(std::optional<uint64_t>, uint64_t, uint64_t) override {}
    void core_frequency(uint32_t, uint64_t) override {}
    void lost(FlowError, uint64_t, uint64_t) override {}
    std::vector<std::string> blocks;
  };
  TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(kStart);
  trace.branches("N");
  trace.target(kStart + 7);
  trace.disable();
  Code code(kProgram);
  Sizes sizes;
  ASSERT_TRUE(follow(trace.view(), {}, code, sizes));
  EXPECT_THAT(sizes.blocks, ElementsAre("401000 5 401000", "401010 2 401010", "401012 1 1 1 401014",
                                        "401007 2 401007"));
}

TEST(FlowDecoder, NothingIsFine) {
  Code code(kProgram);
  Lines lines;
  EXPECT_TRUE(follow({}, {}, code, lines));
  TraceBuilder trace;
  trace.branches("TT");
  EXPECT_TRUE(follow(trace.view(), {}, code, lines));
  EXPECT_TRUE(lines.all.empty());
}

}  // namespace
}  // namespace sonde::pt

#endif
