#include "replay/passes/time_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "perfdata/records/record_encoder.h"
#include "perfdata/text/file_builder.h"

namespace sonde {
namespace {

constexpr size_t kSamples = 80000;  // some ten blocks

std::vector<uint64_t> shuffled(size_t distance) {
  std::vector<uint64_t> times(kSamples);
  for (size_t i = 0; i < kSamples; ++i) times[i] = i / 3;  // some are equal
  std::mt19937 random(7);
  for (size_t i = 0; i + distance < kSamples; i += distance)
    std::shuffle(times.begin() + static_cast<ptrdiff_t>(i),
                 times.begin() + static_cast<ptrdiff_t>(i + distance), random);
  return times;
}

class TimeBatchesTest : public testing::Test {
 protected:
  void record(const std::vector<uint64_t>& times, bool with_times = true) {
    EventDesc event;
    event.attr.type = abi::kTypeSoftware;
    event.attr.sample_type = abi::kSampleIp | abi::kSampleTid | abi::kSamplePeriod |
                             abi::kSampleStreamId | abi::kSampleId | abi::kSampleCpu |
                             abi::kSampleAddr | abi::kSamplePhysAddr;
    if (with_times) event.attr.sample_type |= abi::kSampleTime;
    event.attr.sample_id_all = 1;
    file_.events = {event};
    for (uint64_t time : times) {
      Sample sample;
      sample.id.time = time;
      sample.period = ++period_;
      ASSERT_TRUE(encode_sample(sample, event.attr, file_.data));
    }
  }

  struct Given {
    std::vector<std::pair<uint64_t, uint64_t>> samples;  // time and number in the file
    size_t largest = 0;                                  // batch
  };
  Given read(TimeBatches::Limits limits) {
    std::vector<std::byte> bytes = file_.file();
    auto recording = Recording::open_bytes(bytes, "test", losses_);
    if (!recording) ADD_FAILURE() << recording.error().message;
    StringPool strings;
    Machine machine(strings);
    SidebandResult sideband = read_sideband(*recording, machine, losses_);
    TimeBatches batches(*recording, sideband, limits);
    Given given;
    while (!batches.at_end()) {
      std::span<const TimedSample> batch = batches.next();
      given.largest = std::max(given.largest, batch.size());
      for (const TimedSample& sample : batch) {
        RecordView view = record_at(recording->blocks()[sample.where.block], sample.where.offset,
                                    recording->byte_order());
        Sample content;
        EXPECT_TRUE(decode_sample(view, recording->events()[EventId(size_t{0})].layout, content));
        given.samples.emplace_back(sample.time, content.period);
      }
    }
    EXPECT_TRUE(batches.next().empty());
    return given;
  }

  FileBuilder file_;
  uint64_t period_ = 0;
  LossLedger losses_;
};

std::vector<std::pair<uint64_t, uint64_t>> sorted(const std::vector<uint64_t>& times) {
  std::vector<std::pair<uint64_t, uint64_t>> samples;
  for (size_t i = 0; i < times.size(); ++i) samples.emplace_back(times[i], i + 1);
  std::ranges::sort(samples);
  return samples;
}

TEST_F(TimeBatchesTest, GivesTheOrderOfSortingEverything) {
  for (size_t distance : {size_t{1}, size_t{100}, size_t{20000}, kSamples - 1}) {
    SCOPED_TRACE(distance);
    file_ = FileBuilder();
    period_ = 0;
    std::vector<uint64_t> times = shuffled(distance);
    record(times);
    for (size_t blocks : {1u, 3u}) EXPECT_EQ(read({blocks, 5000}).samples, sorted(times));
  }
}

TEST_F(TimeBatchesTest, BatchesAreSmall) {
  record(shuffled(100));
  Given given = read({2, 5000});
  EXPECT_LE(given.largest, 5000u);
  EXPECT_GT(given.largest, 2500u);
}

TEST_F(TimeBatchesTest, OldSamplesAtTheEndComeFirst) {
  std::vector<uint64_t> times(kSamples, 1000);
  times.back() = 1;
  record(times);
  EXPECT_EQ(read({1, 5000}).samples, sorted(times));
}

TEST_F(TimeBatchesTest, WithoutTimesTheOrderIsThatOfTheFile) {
  record(std::vector<uint64_t>(1000), false);
  Given given = read({1, 300});
  ASSERT_EQ(given.samples.size(), 1000u);
  for (size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(given.samples[i].first, i);
    EXPECT_EQ(given.samples[i].second, i + 1);
  }
}

TEST_F(TimeBatchesTest, NoSamplesAreNoBatch) {
  record({});
  EXPECT_EQ(read({1, 300}).samples.size(), 0u);
}

}  // namespace
}  // namespace sonde
