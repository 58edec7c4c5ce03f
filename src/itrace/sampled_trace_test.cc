#include "itrace/sampled_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sonde::itrace {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Bytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

const std::string kOld = "what was written long before";
const std::string kShared = "the end of the trace before, ";
const std::string kNew = "and what came then";

TEST(SampledTraceTest, WhatIsCommonIsTheEndOfOneAndTheBeginningOfTheOther) {
  TraceSeam seam = find_seam(bytes_of(kOld + kShared), bytes_of(kShared + kNew));
  EXPECT_EQ(seam.end, kOld.size() + kShared.size());
  EXPECT_EQ(seam.begin, kShared.size());
}

TEST(SampledTraceTest, ThePaddingOfTheFirstIsNoneOfTheTrace) {
  std::string padded = kOld + kShared + std::string(7, '\0');
  TraceSeam seam = find_seam(bytes_of(padded), bytes_of(kShared + kNew));
  EXPECT_EQ(seam.end, kOld.size() + kShared.size());
  EXPECT_EQ(seam.begin, kShared.size());
}

TEST(SampledTraceTest, ZerosMayBeTraceAsWell) {
  std::string trace = kShared + std::string(5, '\0');
  TraceSeam seam = find_seam(bytes_of(kOld + trace), bytes_of(trace + kNew));
  EXPECT_EQ(seam.end, kOld.size() + trace.size());
  EXPECT_EQ(seam.begin, trace.size());
}

TEST(SampledTraceTest, LittleInCommonIsChance) {
  EXPECT_EQ(find_seam(bytes_of(kOld + "the end"), bytes_of("the end" + kNew)).begin, 0u);
  EXPECT_EQ(find_seam(bytes_of(kOld), bytes_of(kNew)).begin, 0u);
  EXPECT_EQ(find_seam(bytes_of(kOld), {}).begin, 0u);
  EXPECT_EQ(find_seam({}, bytes_of(kShared)).begin, 0u);
}

TEST(SampledTraceTest, RepetitionsAreMatchedAtTheirLongest) {
  std::string turns = "12345678123456781234567812345678";
  TraceSeam seam = find_seam(bytes_of("before" + turns), bytes_of(turns + "x"));
  EXPECT_EQ(seam.begin, turns.size());
}

class SampledTraceQueues : public testing::Test {
 protected:
  void take(uint64_t id, uint32_t cpu, uint32_t tid, const std::string& trace) {
    Sample sample;
    sample.id.id = id;
    sample.id.cpu = cpu;
    sample.id.tid = tid;
    sample.aux = bytes_of(trace);
    traces_.take(sample, has_cpu_);
  }
  SampledTrace traces_;
  bool has_cpu_ = false;
};

TEST_F(SampledTraceQueues, TheIndexTellsWhoseTheyAre) {
  std::vector<uint64_t> words = {7, 0, 3, UINT64_MAX, 8, 1, UINT64_MAX, 12};
  traces_.take_index({WordView(std::as_bytes(std::span(words)), kHostOrder), {}});
  take(7, 0, 20, kOld);
  take(7, 0, 21, kNew);
  take(8, 0, 12, kOld);
  take(8, 0, 12, "");
  std::vector<TraceQueue> queues = traces_.take_queues();
  ASSERT_THAT(queues, SizeIs(2));
  EXPECT_EQ(queues[0].cpu, 3u);
  EXPECT_THAT(queues[0].pieces, SizeIs(2));
  // A gap: nothing tells what was between them.
  EXPECT_GT(queues[0].pieces[1].offset, kOld.size());
  EXPECT_EQ(queues[1].tid, 12u);
  EXPECT_THAT(queues[1].pieces, SizeIs(1));
  EXPECT_THAT(traces_.take_queues(), IsEmpty());
}

TEST_F(SampledTraceQueues, WithoutAnIndexTheSamplesTell) {
  take(7, 0, 20, kOld);
  has_cpu_ = true;
  take(7, 2, 20, kOld);
  std::vector<TraceQueue> queues = traces_.take_queues();
  ASSERT_THAT(queues, SizeIs(2));
  EXPECT_EQ(queues[0].cpu, 2u);
  EXPECT_EQ(queues[1].tid, 20u);
}

TEST_F(SampledTraceQueues, WhatIsCommonIsTakenOnce) {
  std::string first = kOld + kShared + std::string(3, '\0'), second = kShared + kNew;
  take(7, 0, 20, first);
  take(7, 0, 20, second);
  take(7, 0, 20, second);
  std::vector<TraceQueue> queues = traces_.take_queues();
  ASSERT_THAT(queues, SizeIs(1));
  const std::vector<TracePiece>& pieces = queues[0].pieces;
  ASSERT_THAT(pieces, SizeIs(2));
  EXPECT_EQ(pieces[0].bytes.size(), kOld.size() + kShared.size());
  EXPECT_EQ(pieces[1].offset, pieces[0].bytes.size());
  EXPECT_EQ(pieces[1].bytes.size(), kNew.size());
}

}  // namespace
}  // namespace sonde::itrace
