#include "replay/passes/round_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "perfdata/records/record_encoder.h"
#include "perfdata/text/file_builder.h"

namespace sonde {
namespace {

using testing::ElementsAre;

/// A pipe whose write end the test fills.
class RoundPipelineTest : public testing::Test {
 protected:
  RoundPipelineTest() {
    EXPECT_EQ(::pipe(ends_), 0);
    attr_.type = abi::kTypeSoftware;
    attr_.sample_type = abi::kSampleIp | abi::kSampleTime;
    attr_.sample_id_all = 1;
    EventDesc event;
    event.attr = attr_;
    file_.events.push_back(event);
    std::vector<std::byte> start = file_.pipe();
    write(start);
  }
  ~RoundPipelineTest() override {
    ::close(ends_[0]);
    hang_up();
  }

  void write(Bytes bytes) {
    ASSERT_EQ(::write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void sample(uint64_t time) {
    Sample sample;
    sample.id.time = time;
    ByteBuilder bytes;
    encode_sample(sample, attr_, bytes);
    write(bytes.view());
  }
  void round() {
    ByteBuilder bytes;
    encode_empty(abi::kRecordFinishedRound, bytes);
    write(bytes.view());
  }
  void hang_up() {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }

  /// Follows the pipe; `on_pause` writes more. Returns the times of each segment.
  std::vector<std::vector<uint64_t>> follow(const std::function<bool()>& on_pause,
                                            size_t most = SIZE_MAX) {
    std::vector<std::vector<uint64_t>> segments;
    auto stream = StreamReader::open(ends_[0], "-", {}, losses_);
    EXPECT_TRUE(stream);
    auto give = [&](const std::vector<RecordBlock>& blocks) -> Result<bool> {
      std::vector<uint64_t> times;
      RecordView record;
      for (const RecordBlock& block : blocks)
        for (RecordRange range(block, kHostOrder); range.next(record);) {
          if (record.type != abi::kRecordSample) continue;
          SampleId id;
          EXPECT_TRUE(decode_sample_id(record, stream->events().all()[0].layout, id));
          times.push_back(id.time);
        }
      if (!times.empty()) segments.push_back(times);
      return segments.size() < most;
    };
    EXPECT_TRUE(RoundPipeline(*stream, give, losses_).run(on_pause));
    return segments;
  }

  int ends_[2];
  abi::EventAttr attr_;
  FileBuilder file_{kHostOrder};
  LossLedger losses_;
};

TEST_F(RoundPipelineTest, GivesWhatIsSafeWheneverThePipeIsEmpty) {
  int pauses = 0;
  auto segments = follow([&] {
    switch (pauses++) {
      case 0:
        for (uint64_t time : {10u, 30u, 20u}) sample(time);
        break;
      case 1:  // nothing can be given yet: a second ring may hold older ones
        round();
        for (uint64_t time : {40u, 25u}) sample(time);
        break;
      case 2:
        round();
        break;
      case 3:
        sample(50);
        hang_up();
        break;
      default:
        ADD_FAILURE() << "the end of a pipe is no pause";
        return false;
    }
    return true;
  });
  EXPECT_THAT(segments, ElementsAre(ElementsAre(10, 20, 25, 30), ElementsAre(40, 50)));
  EXPECT_EQ(losses_.total(), 0u);
}

TEST_F(RoundPipelineTest, StopsWhereItIsTold) {
  auto segments = follow([&, pauses = 0]() mutable {
    sample(10);
    return ++pauses < 3;
  });
  EXPECT_THAT(segments, ElementsAre(ElementsAre(10, 10)));
}

TEST_F(RoundPipelineTest, StopsWhenNoMoreIsWanted) {
  int pauses = 0;
  auto segments = follow(
      [&] {
        sample(10 + static_cast<uint64_t>(pauses++));
        round();
        return pauses < 100;
      },
      1);
  EXPECT_EQ(segments.size(), 1u);
  EXPECT_LT(pauses, 5);
}

TEST_F(RoundPipelineTest, ManyRoundsLoseNothing) {
  constexpr uint64_t kSamples = 200'000;
  uint64_t time = 0;
  auto segments = follow([&] {
    for (int i = 0; i < 1000; ++i) sample(++time);
    round();
    if (time == kSamples) hang_up();
    return true;
  });
  uint64_t last = 0;
  for (const std::vector<uint64_t>& times : segments)
    for (uint64_t t : times) ASSERT_EQ(t, ++last);
  EXPECT_EQ(last, kSamples);
}

}  // namespace
}  // namespace sonde
