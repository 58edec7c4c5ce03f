#include "etm/flow_decoder.h"

#include <gtest/gtest.h>

#include <string>

#include <fmt/format.h>

#include "etm/trace_builder.h"

namespace sonde::etm {
namespace {

constexpr uint64_t kStart = 0x1000;
constexpr uint32_t kCode[] = {
    0x14000002,  // 1000: b 1008
    0xd503201f,  // 1004: nop
    0xd503201f,  // 1008: nop
    0xb5ffffe0,  // 100c: cbnz x0, 1008
    0xd65f03c0,  // 1010: ret
};
constexpr uint8_t kTraceId = 0x10;

class Code final : public CodeReader {
 public:
  size_t read(uint8_t /*trace_id*/, uint64_t at, std::span<std::byte> to) override {
    Bytes code = std::as_bytes(std::span(kCode));
    if (at < kStart || at - kStart >= code.size()) return 0;
    code = code.subspan(at - kStart);
    size_t size = std::min(code.size(), to.size());
    std::copy_n(code.begin(), size, to.begin());
    return size;
  }
};

class Story final : public FlowObserver {
 public:
  void ran(uint8_t id, const ExecutedRange& range) override {
    EXPECT_EQ(id, kTraceId);
    constexpr const char* kNames[] = {"other", "jump", "call", "ijump", "icall", "ret", "eret"};
    text += fmt::format("{:x}-{:x} {}{}{}\n", range.start, range.end - range.last_size,
                        kNames[static_cast<size_t>(range.last)], range.is_conditional ? "?" : "",
                        range.was_taken ? "" : " not taken");
  }
  void interrupted(uint8_t /*id*/) override {
    if (!text.ends_with("--\n")) text += "--\n";
  }
  void exception(uint8_t /*id*/, uint32_t number, uint64_t /*to*/) override {
    text += fmt::format("exception {}\n", number);
  }
  void timestamp(uint8_t /*id*/, uint64_t time) override { text += fmt::format("at {}\n", time); }
  void context(uint8_t /*id*/, uint32_t id) override { text += fmt::format("context {}\n", id); }
  void lost(uint8_t /*id*/, Lost why, uint64_t at) override {
    text += why == Lost::kNoCode      ? fmt::format("no code {:x}\n", at)
            : why == Lost::kBadPacket ? "bad packet\n"
                                      : "overflow\n";
  }

  std::string text;
};

TraceUnit unit() {
  return test_unit(0, kTraceId);
}

std::string story_of(const std::vector<uint8_t>& trace, Format format, bool* is_whole = nullptr) {
  Code code;
  Story story;
  TraceUnit one = unit();
  auto decoder = FlowDecoder::make({&one, 1}, format, code, story);
  if (!decoder) return decoder.error().message;
  bool whole = decoder->decode(std::as_bytes(std::span(trace)));
  if (is_whole != nullptr) *is_whole = whole;
  return story.text;
}

/// A loop of three rounds, and its return to where no code is.
std::vector<uint8_t> loop_trace() {
  TraceBuilder trace;
  trace.begin(kStart).taken().taken().taken().not_taken().taken().address(0x555000).taken();
  return trace.bytes();
}

constexpr const char* kLoopStory =
    "--\n1000-1000 jump\n1008-100c jump?\n1008-100c jump?\n1008-100c jump? not taken\n"
    "1010-1010 ret\nno code 555000\n";

TEST(FlowDecoder, TellsEachRangeOfALoop) {
  EXPECT_TRUE(story_of(loop_trace(), Format::kRaw).starts_with(kLoopStory))
      << story_of(loop_trace(), Format::kRaw);
}

TEST(FlowDecoder, TakesFramesApart) {
  std::vector<uint8_t> frames = in_frames(loop_trace(), kTraceId);
  EXPECT_TRUE(story_of(frames, Format::kFrames).starts_with(kLoopStory))
      << story_of(frames, Format::kFrames);
}

TEST(FlowDecoder, StretchesAreIndependent) {
  Code code;
  Story story;
  TraceUnit one = unit();
  auto decoder = FlowDecoder::make({&one, 1}, Format::kRaw, code, story);
  ASSERT_TRUE(decoder) << decoder.error().message;
  TraceBuilder trace;
  trace.begin(kStart).taken();
  EXPECT_TRUE(decoder->decode(std::as_bytes(std::span(trace.bytes()))));
  EXPECT_TRUE(decoder->decode(std::as_bytes(std::span(trace.bytes()))));
  EXPECT_EQ(story.text, "--\n1000-1000 jump\n--\n1000-1000 jump\n--\n");
}

/// Nothing but nops.
class Data final : public CodeReader {
 public:
  size_t read(uint8_t /*trace_id*/, uint64_t /*at*/, std::span<std::byte> to) override {
    for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::byte>(0xd503201f >> i % 4 * 8);
    return to.size();
  }
};

TEST(FlowDecoder, CodeWithoutEndIsGivenUp) {
  Data data;
  Story story;
  TraceUnit one = unit();
  auto decoder = FlowDecoder::make({&one, 1}, Format::kRaw, data, story);
  ASSERT_TRUE(decoder) << decoder.error().message;
  std::vector<uint8_t> trace = loop_trace();
  EXPECT_TRUE(decoder->decode(std::as_bytes(std::span(trace))));
  EXPECT_NE(story.text.find("no code"), std::string::npos) << story.text;
}

TEST(FlowDecoder, TellsWhatComesBetweenRanges) {
  TraceBuilder trace;
  trace.begin(kStart).context(77).timestamp(5000).taken().exception(14, 0x100c);
  trace.overflow().begin(kStart).taken();
  EXPECT_EQ(story_of(trace.bytes(), Format::kRaw),
            "--\ncontext 77\nat 5000\n1000-1000 jump\n1008-1008 other not taken\nexception "
            "14\noverflow\n--\ncontext 77\n"
            "1000-1000 jump\n--\n");
}

TEST(FlowDecoder, ATraceWithoutSyncTellsNothing) {
  EXPECT_EQ(story_of(std::vector<uint8_t>(64, 0xf7), Format::kRaw), "--\n");
}

TEST(TraceUnits, AreReadFromTheRecord) {
  const uint64_t words[] = {
      1, uint64_t{8} << 32 | 1, 1, 0x4040404040404040, 3, 7, 0x40, 0x10, 0x28000ea1, 2, 3, 4, 5};
  auto units = parse_trace_units(words);
  ASSERT_TRUE(units) << units.error().message;
  EXPECT_EQ(units->pmu_type, 8U);
  EXPECT_TRUE(units->is_snapshot);
  ASSERT_EQ(units->units.size(), 1U);
  EXPECT_EQ(units->units[0].cpu, 3U);
  EXPECT_EQ(units->units[0].config, 0x40U);
  EXPECT_EQ(units->units[0].trace_id, 0x10);
  EXPECT_EQ(units->units[0].id[0], 0x28000ea1U);
  EXPECT_EQ(units->units[0].id8, 4U);
  // Each shorter record says so.
  for (size_t size = 0; size < std::size(words); ++size)
    EXPECT_FALSE(parse_trace_units(std::span(words).first(size))) << size;
  const uint64_t old[] = {0, 1, 0, 0x3030303030303030, 0, 1, 2, 3, 4};
  auto refused = parse_trace_units(old);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("ETMv3"), std::string::npos);
}

}  // namespace
}  // namespace sonde::etm
