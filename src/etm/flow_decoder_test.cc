#include "etm/flow_decoder.h"

#include <gtest/gtest.h>

#include <string>

#include <fmt/format.h>

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

// Packets (Arm IHI 0064, chapter 6).
const std::vector<uint8_t> kSync = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80};
constexpr uint8_t kTaken = 0xf7, kNotTaken = 0xf6, kTraceOn = 0x04;

void append(std::vector<uint8_t>& trace, const std::vector<uint8_t>& packet) {
  trace.insert(trace.end(), packet.begin(), packet.end());
}

std::vector<uint8_t> address(uint64_t to) {
  std::vector<uint8_t> packet = {0x9d, static_cast<uint8_t>((to >> 2) & 0x7f),
                                 static_cast<uint8_t>((to >> 9) & 0x7f)};
  for (int shift = 16; shift < 64; shift += 8) packet.push_back(static_cast<uint8_t>(to >> shift));
  return packet;
}

/// Sync, trace info, tracing begins in AArch64 at EL0, in non-secure state.
std::vector<uint8_t> beginning(uint64_t at) {
  std::vector<uint8_t> trace = kSync;
  append(trace, {0x01, 0x01, 0x00, kTraceOn, 0x81, 0x30});
  append(trace, address(at));
  return trace;
}

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
  void no_code(uint8_t /*id*/, uint64_t at) override { text += fmt::format("no code {:x}\n", at); }

  std::string text;
};

TraceUnit unit() {
  return {.cpu = 0, .trace_id = kTraceId, .id = {0x28000ea1, 0x4100f422, 0x20001088}};
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
  std::vector<uint8_t> trace = beginning(kStart);
  append(trace, {kTaken, kTaken, kTaken, kNotTaken, kTaken});
  append(trace, address(0x555000));
  append(trace, {kTaken});
  return trace;
}

constexpr const char* kLoopStory =
    "--\n1000-1000 jump\n1008-100c jump?\n1008-100c jump?\n1008-100c jump? not taken\n"
    "1010-1010 ret\nno code 555000\n";

TEST(FlowDecoder, TellsEachRangeOfALoop) {
  EXPECT_TRUE(story_of(loop_trace(), Format::kRaw).starts_with(kLoopStory))
      << story_of(loop_trace(), Format::kRaw);
}

TEST(FlowDecoder, TakesFramesApart) {
  // A frame: 15 bytes of which the even ones may change the id, and a byte with their lowest bits.
  std::vector<uint8_t> trace = loop_trace();
  std::vector<uint8_t> frames;
  size_t at = 0;
  while (at < trace.size()) {
    uint8_t low_bits = 0;
    for (int i = 0; i < 15; ++i) {
      if (i == 0) {
        frames.push_back(kTraceId << 1 | 1);
        continue;
      }
      uint8_t byte = at < trace.size() ? trace[at++] : 0;
      if (i % 2 != 0) {
        frames.push_back(byte);
      } else {
        frames.push_back(byte & 0xfe);
        low_bits |= static_cast<uint8_t>((byte & 1) << (i / 2));
      }
    }
    frames.push_back(low_bits);
  }
  EXPECT_TRUE(story_of(frames, Format::kFrames).starts_with(kLoopStory))
      << story_of(frames, Format::kFrames);
}

TEST(FlowDecoder, StretchesAreIndependent) {
  Code code;
  Story story;
  TraceUnit one = unit();
  auto decoder = FlowDecoder::make({&one, 1}, Format::kRaw, code, story);
  ASSERT_TRUE(decoder) << decoder.error().message;
  std::vector<uint8_t> trace = beginning(kStart);
  append(trace, {kTaken});
  EXPECT_TRUE(decoder->decode(std::as_bytes(std::span(trace))));
  EXPECT_TRUE(decoder->decode(std::as_bytes(std::span(trace))));
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

TEST(FlowDecoder, ATraceWithoutSyncTellsNothing) {
  EXPECT_EQ(story_of(std::vector<uint8_t>(64, kTaken), Format::kRaw), "--\n");
}

TEST(TraceUnits, AreReadFromTheRecord) {
  const uint64_t words[] = {1,       uint64_t{8} << 32 | 1, 1, 0x4040404040404040, 3, 7, 0x40, 0x10, 0x28000ea1, 2, 3,
                            4,       5};
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
