// A scan by several threads must find what one in file order finds, whatever is at the start of its
// segments, and whether or not somebody observes it.
#include "perfdata/read/parallel_scan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "perfdata/read/recording.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/text/file_builder.h"

namespace sonde {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

/// Notes the positions of the samples that it receives.
class NotingObserver final : public SampleObserver {
 public:
  bool begin(const EventTable&) override { return true; }
  void set_parts(size_t parts) override { offsets_.resize(parts); }
  bool wants_more(size_t part) override { return offsets_[part].size() < limit; }
  Taken take(size_t part, Bytes bytes, uint64_t file_offset, ByteOrder order) override {
    return for_each_sample(bytes, file_offset, order, [&](const RecordView& sample) {
      offsets_[part].push_back(sample.file_offset);
    });
  }
  void drop(size_t part) override { offsets_[part].clear(); }

  [[nodiscard]] std::vector<uint64_t> all() const {
    std::vector<uint64_t> all;
    for (const auto& part : offsets_) all.insert(all.end(), part.begin(), part.end());
    return all;
  }
  [[nodiscard]] size_t parts() const { return offsets_.size(); }
  size_t limit = SIZE_MAX;

 private:
  std::vector<std::vector<uint64_t>> offsets_;
};

struct SeenRecord {
  uint32_t type;
  uint16_t misc;
  uint64_t file_offset;
  size_t size;
  bool operator==(const SeenRecord&) const = default;
};

class ParallelScanTest : public testing::Test {
 protected:
  ParallelScanTest()
      : path_(testing::TempDir() + "tapped-walk-" + std::to_string(::getpid()) + ".data") {
    event_.attr.type = abi::kTypeSoftware;
    event_.attr.sample_type =
        abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSampleCallchain;
    event_.attr.sample_id_all = 1;
    file_.events = {event_};
  }
  ~ParallelScanTest() override { std::filesystem::remove(path_); }

  void add_samples(size_t bytes) { add_samples(bytes, file_.data); }
  void add_samples(size_t bytes, ByteBuilder& to) {
    ByteBuilder chain;
    for (uint64_t i = 0; i < 70; ++i) chain.u64(i);
    for (size_t end = to.size() + bytes; to.size() < end; ++time_) {
      Sample sample;
      sample.id.time = time_;
      // In all sizes, so that window and segment boundaries fall anywhere.
      sample.callchain = WordView(chain.view().first(8 * (time_ * 7919 % 70)), kHostOrder);
      ASSERT_TRUE(encode_sample(sample, event_.attr, to));
      if (time_ % 50 == 0) add_header(abi::kRecordFinishedRound, 8, to);
    }
  }
  static void add_header(uint32_t type, uint16_t size, ByteBuilder& to) {
    to.u32(type);
    to.u16(0);
    to.u16(size);
  }

  void write(size_t cut_off = 0) const {
    std::vector<std::byte> bytes = file_.file();
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<ssize_t>(bytes.size() - cut_off));
  }

  /// The blocks of one scan in file order.
  static std::vector<RecordBlock> cut_in_order(const Recording& recording, Bytes file) {
    EventTable events = recording.events();
    Features features;
    LossLedger losses;
    SetupCollector setup(events, features, losses);
    StreamExpander expander(OpenOptions{}.spool_limit_bytes);
    BlockSplitter splitter(kHostOrder, setup, losses);
    std::vector<RecordBlock> blocks;
    const FileFacts& facts = recording.facts();
    splitter.split(file.subspan(facts.data_offset)
                       .first(std::min<size_t>(facts.data_size, file.size() - facts.data_offset)),
                   facts.data_offset, 0, expander, blocks);
    return blocks;
  }

  static std::vector<SeenRecord> records_of(std::span<const RecordBlock> blocks) {
    std::vector<SeenRecord> all;
    for (const RecordBlock& block : blocks) {
      size_t others = 0, samples = 0;
      RecordView record;
      for (RecordRange range(block, kHostOrder); range.next(record);) {
        all.push_back({record.type, record.misc, record.file_offset, record.size()});
        if (record.type == abi::kRecordSample) {
          ++samples;
          continue;
        }
        ++others;
        if (!block.content) continue;
        // What was noted on the way matches what is there.
        RecordView noted = record_at(block, block.content->others.at(others - 1), kHostOrder);
        EXPECT_EQ((SeenRecord{noted.type, noted.misc, noted.file_offset, noted.size()}),
                  all.back());
        EXPECT_EQ(noted.payload.data(), record.payload.data());
      }
      // Nothing is noted only where the notes would be larger than the records.
      EXPECT_EQ(block.content.has_value(),
                others * sizeof(BlockContent::Place) <= block.bytes.size());
      if (!block.content) continue;
      EXPECT_EQ(block.content->samples(), samples);
      EXPECT_EQ(block.content->others.size(), others);
    }
    return all;
  }
  static size_t trailing_bytes(const Recording& recording) {
    size_t bytes = 0;
    for (const RecordBlock& block : recording.blocks()) bytes += block.trailing.size();
    return bytes;
  }

  /// Opens the file both ways.
  void expect_the_same(NotingObserver& observer) {
    LossLedger plain_losses, losses;
    auto plain = Recording::open(path_, {}, plain_losses);
    ASSERT_TRUE(plain) << plain.error().message;
    auto deferred = Recording::open(path_, {.observer = &observer}, losses);
    ASSERT_TRUE(deferred) << deferred.error().message;
    auto file = MappedFile::open(path_);
    ASSERT_TRUE(file) << file.error().message;
    std::vector<SeenRecord> in_order = records_of(cut_in_order(*plain, file->bytes()));
    EXPECT_EQ(records_of(plain->blocks()), in_order);
    EXPECT_EQ(records_of(deferred->blocks()), in_order);
    EXPECT_EQ(trailing_bytes(*deferred), trailing_bytes(*plain));
    EXPECT_EQ(deferred->record_counts().by_type, plain->record_counts().by_type);
    EXPECT_EQ(deferred->record_counts().beyond, plain->record_counts().beyond);
    ASSERT_EQ(losses.entries().size(), plain_losses.entries().size());
    for (size_t i = 0; i < losses.entries().size(); ++i) {
      EXPECT_EQ(losses.entries()[i].kind, plain_losses.entries()[i].kind);
      EXPECT_EQ(losses.entries()[i].count, plain_losses.entries()[i].count);
      EXPECT_EQ(losses.entries()[i].example, plain_losses.entries()[i].example);
    }
    std::vector<uint64_t> offsets;
    for (const RecordBlock& block : deferred->blocks()) {
      RecordView record;
      for (RecordRange range(block, kHostOrder); block.samples_taken && range.next(record);)
        if (record.type == abi::kRecordSample) offsets.push_back(record.file_offset);
    }
    EXPECT_EQ(observer.all(), offsets);
    taken_ = offsets.size();
    samples_ = plain->record_counts().by_type[abi::kRecordSample];
  }

  std::string path_;
  EventDesc event_;
  FileBuilder file_;
  uint64_t time_ = 0;
  size_t taken_ = 0, samples_ = 0;
};

TEST_F(ParallelScanTest, ManySegments) {
  add_samples(20 * kMegabyte);
  write();
  NotingObserver observer;
  expect_the_same(observer);
  EXPECT_GE(observer.parts(), 2 * 4 + 1u);
  EXPECT_EQ(taken_, samples_);
}

TEST_F(ParallelScanTest, OneSegment) {
  add_samples(100);
  write();
  NotingObserver observer;
  expect_the_same(observer);
  EXPECT_EQ(taken_, samples_);
}

TEST_F(ParallelScanTest, RecordsThatDescribeTheRecordingAnywhere) {
  for (size_t i = 0; i < 10; ++i) {
    add_samples(kMegabyte + 12345);
    encode(TimeConvRecord{}, file_.data);
  }
  write();
  NotingObserver observer;
  expect_the_same(observer);
  EXPECT_EQ(taken_, samples_);
}

TEST_F(ParallelScanTest, AuxDataThatLooksLikeRecords) {
  for (size_t i = 0; i < 3; ++i) {
    add_samples(2 * kMegabyte);
    ByteBuilder aux;
    add_samples((i + 2) * 3 * kMegabyte, aux);  // past the starts of segments
    AuxtraceRecord header{};
    header.size = aux.size();
    encode(header, file_.data);
    file_.data.bytes(aux.view());
  }
  add_samples(kMegabyte);
  write();
  NotingObserver observer;
  expect_the_same(observer);
  EXPECT_EQ(taken_, samples_);
}

TEST_F(ParallelScanTest, RecordsOfTypesThatNobodyKnows) {
  for (size_t i = 0; i < 12; ++i) {
    add_samples(kMegabyte);
    add_header(55, 16, file_.data);
    file_.data.u64(0);
    add_header(200, 8, file_.data);
  }
  write();
  NotingObserver observer;
  expect_the_same(observer);
  EXPECT_EQ(taken_, samples_);
}

TEST_F(ParallelScanTest, GarbageInTheMiddleEndsIt) {
  add_samples(6 * kMegabyte);
  add_header(abi::kRecordSample, 4, file_.data);
  add_samples(9 * kMegabyte);
  write();
  NotingObserver observer;
  expect_the_same(observer);
  EXPECT_EQ(taken_, samples_);
}

TEST_F(ParallelScanTest, TheEndIsMissing) {
  add_samples(9 * kMegabyte);
  write(100'001);
  NotingObserver observer;
  expect_the_same(observer);
}

TEST_F(ParallelScanTest, ATapThatHasEnough) {
  add_samples(20 * kMegabyte);
  write();
  NotingObserver observer;
  observer.limit = 5000;
  expect_the_same(observer);
  EXPECT_GT(taken_, 5000u);
  EXPECT_LT(taken_, samples_);
}

}  // namespace
}  // namespace sonde
