#include "replay/passes/record_pipeline.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>

#include "perfdata/records/record_encoder.h"
#include "perfdata/text/file_builder.h"
#include "replay/fields/sample_offsets.h"

namespace sonde {
namespace {

constexpr uint64_t kEventId = 77, kOtherEventId = 78, kNobodysId = 5;
constexpr uint32_t kBadCpu = 99;

struct Numbered {
  uint64_t time = 0;
  uint32_t number = 0;  // of the sample in the file; of other records, the tid
  bool is_other = false;
  const std::byte* record = nullptr;
  friend bool operator==(const Numbered& left, const Numbered& right) {
    return left.time == right.time && left.number == right.number &&
           left.is_other == right.is_other;
  }
};

/// Every third sample does not matter; those of a certain CPU are damaged.
template <bool keeps_state>
struct Decoder {
  using Item = Numbered;
  static constexpr bool kKeepsState = keeps_state;

  Decoded decode(const RecordView& record, uint32_t /*event*/, Numbered& item) {
    SampleHead head;
    if (!places.read(record, head) || head.cpu == kBadCpu) return Decoded::kBad;
    if (keeps_state) seen.push_back(head.tid);
    if (head.tid % 3 == 0) return Decoded::kNothing;
    item = {head.time, head.tid, false, record.raw().data()};
    return Decoded::kItem;
  }
  bool decode_other(const OtherRecord& record, Numbered& item) {
    if (record.view.type != abi::kRecordComm) return false;
    item = {record.time, 0, true, record.view.raw().data()};
    return true;
  }
  [[nodiscard]] bool is_over() const { return over.load(); }

  SampleOffsets places;
  std::atomic<bool> over = false;
  std::vector<uint32_t> seen;
};

/// Two rings that are read in turn, in rounds, with more records than several loads hold.
class RecordPipelineTest : public testing::Test {
 protected:
  static constexpr uint32_t kRounds = 40, kSamplesOfRound = 2000;

  RecordPipelineTest()
      : path_(testing::TempDir() + "record-feed-" + std::to_string(::getpid()) + ".data") {
    EventDesc event;
    event.attr.type = abi::kTypeSoftware;
    event.attr.sample_type = abi::kSampleIdentifier | abi::kSampleIp | abi::kSampleTid |
                             abi::kSampleTime | abi::kSampleCpu | abi::kSampleRaw;
    event.attr.sample_id_all = 1;
    event.ids = {kEventId};
    attr_ = event.attr;
    file_.events.push_back(event);
    event.ids = {kOtherEventId};  // so that ids matter
    file_.events.push_back(event);
    for (uint32_t round = 0; round < kRounds; ++round) add_round(round);
    write();
  }
  ~RecordPipelineTest() override { std::filesystem::remove(path_); }

  void add_round(uint32_t round) {
    uint64_t start = uint64_t{10000} * (round + 1);
    for (uint32_t ring = 0; ring < 2; ++ring) {
      uint64_t time = start;
      for (uint32_t i = 0; i < kSamplesOfRound / 2; ++i) add_sample(time += random_() % 9, ring);
      add_comm(time);
    }
    if (round % 8 == 0) add_lost(3);
    encode_raw(abi::kRecordFinishedRound, 0, {}, file_.data);
  }
  void add_sample(uint64_t time, uint32_t cpu, uint64_t id = kEventId) {
    std::array<std::byte, 64> raw{};
    Sample sample;
    sample.id.id = id;
    sample.id.tid = number_;
    sample.id.pid = 1;
    sample.id.time = time;
    sample.id.cpu = cpu;
    sample.ip = number_;
    sample.raw = raw;
    ASSERT_TRUE(encode_sample(sample, attr_, file_.data));
    if (id == kEventId && cpu != kBadCpu && number_ % 3 != 0)
      expected_.push_back({time, number_, false});
    ++number_;
  }
  RecordFrame frame(uint64_t time) {
    return {.attr = &attr_, .id = {.pid = 1, .tid = 1, .time = time, .id = kEventId}};
  }
  void add_comm(uint64_t time) {
    encode(CommRecord{.pid = 1, .tid = 1, .comm = "name", .exec = false}, frame(time), file_.data);
    expected_.push_back({time, 0, true});
  }
  void add_lost(uint64_t events) { encode(LostRecord{kEventId, events}, frame(1), file_.data); }

  template <bool keeps_state = false>
  std::vector<Numbered> read(SortedBy sorted_by, Decoder<keeps_state>& decoder) {
    LossLedger losses;
    auto scan = FileScan::open(path_, {}, losses);
    EXPECT_TRUE(scan) << scan.error().message;
    decoder.places = SampleOffsets::of(attr_.sample_type);
    std::vector<Numbered> all;
    counts_ =
        process_records(*scan, losses, decoder, sorted_by, [&](std::span<const Numbered> items) {
          all.insert(all.end(), items.begin(), items.end());
          if (all.size() > enough_) decoder.over = true;
        });
    unknown_ = losses.count(LossKind::k_unknown_event_id);
    bad_ = losses.count(LossKind::k_bad_record);
    out_of_order_ = losses.count(LossKind::k_out_of_order);
    return all;
  }
  void write() {
    std::ofstream out(path_, std::ios::binary);
    std::vector<std::byte> bytes = file_.file();
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  }

  std::string path_;
  abi::EventAttr attr_;
  FileBuilder file_;
  std::mt19937_64 random_{3};
  uint32_t number_ = 1;
  std::vector<Numbered> expected_;
  PipelineCounts counts_;
  uint64_t unknown_ = 0, bad_ = 0, out_of_order_ = 0;
  size_t enough_ = SIZE_MAX;
};

TEST_F(RecordPipelineTest, ItemsComeInOrderOfTimeWhoeverSorts) {
  ASSERT_GT(std::filesystem::file_size(path_), size_t{8} << 20);  // many loads
  std::ranges::stable_sort(expected_, {}, &Numbered::time);
  for (SortedBy sorted_by : {SortedBy::kConsumer, SortedBy::kOwnStep}) {
    Decoder<false> decoder;
    EXPECT_EQ(read(sorted_by, decoder), expected_);
    EXPECT_EQ(counts_.records, kRounds * (kSamplesOfRound + 2 + 1) + kRounds / 8);
    EXPECT_EQ(counts_.lost, 3u * kRounds / 8);
    EXPECT_EQ(counts_.lost_chunks, kRounds / 8);
    EXPECT_EQ(out_of_order_, 0u);
  }
}

TEST_F(RecordPipelineTest, ADecoderThatKeepsStateSeesTheFilesOrder) {
  Decoder<true> decoder;
  EXPECT_EQ(read(SortedBy::kConsumer, decoder).size(), expected_.size());
  EXPECT_EQ(decoder.seen.size(), number_ - 1);
  EXPECT_TRUE(std::ranges::is_sorted(decoder.seen));
}

TEST_F(RecordPipelineTest, WhatIsNobodysOrDamagedIsCounted) {
  for (int i = 0; i < 5; ++i) add_sample(20'000'000, 0, kNobodysId);
  for (int i = 0; i < 7; ++i) add_sample(20'000'000, kBadCpu);
  write();
  Decoder<false> decoder;
  EXPECT_EQ(read(SortedBy::kOwnStep, decoder).size(), expected_.size());
  EXPECT_EQ(unknown_, 5u);
  EXPECT_EQ(bad_, 7u);
}

TEST_F(RecordPipelineTest, ADecoderThatHasEnoughEndsTheReading) {
  enough_ = 100;
  Decoder<false> decoder;
  size_t read_items = read(SortedBy::kOwnStep, decoder).size();
  EXPECT_GT(read_items, enough_);
  EXPECT_LT(read_items, expected_.size());
}

}  // namespace
}  // namespace sonde
