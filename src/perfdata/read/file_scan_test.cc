#include "perfdata/read/file_scan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/text/file_builder.h"

namespace sonde {
namespace {

/// What a scan over samples adds up to.
struct Seen {
  uint64_t samples = 0;
  uint64_t addresses = 0;  // sum
  bool operator==(const Seen&) const = default;
};

/// A file of many megabytes: samples whose addresses count up.
class FileScanTest : public testing::Test {
 protected:
  static constexpr uint64_t kSamples = 800'000;
  static constexpr Seen kAll{kSamples, kSamples*(kSamples - 1) / 2};

  FileScanTest() : path_(testing::TempDir() + "file-walk-" + std::to_string(::getpid()) + ".data") {
    static const Built built = build();
    size_of_records_ = built.size_of_records;
    write(built.bytes);
  }
  ~FileScanTest() override { std::filesystem::remove(path_); }

  struct Built {
    std::vector<std::byte> bytes;
    size_t size_of_records = 0;
  };
  static Built build() {
    FileBuilder file;
    EventDesc event;
    event.attr.type = abi::kTypeSoftware;
    event.attr.sample_type = abi::kSampleIp | abi::kSampleTime;
    event.attr.sample_id_all = 1;
    file.events = {event};
    for (uint64_t i = 0; i < kSamples; ++i) {
      Sample sample;
      sample.ip = i;
      sample.id.time = i;
      encode_sample(sample, event.attr, file.data);
    }
    return {file.file(), file.data.size()};
  }
  void write(const std::vector<std::byte>& bytes) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<ssize_t>(bytes.size()));
  }
  FileScan open() {
    auto scan = FileScan::open(path_, {}, losses_);
    EXPECT_TRUE(scan) << scan.error().message;
    return std::move(*scan);
  }
  static Seen look_at(const RecordBlock& block) {
    Seen seen;
    RecordView record;
    for (RecordRange range(block, kHostOrder); range.next(record); ++seen.samples)
      seen.addresses += load<uint64_t>(record.payload.data(), kHostOrder);
    return seen;
  }
  static void add(Seen& to, const Seen& seen) {
    to.samples += seen.samples;
    to.addresses += seen.addresses;
  }
  static std::vector<RecordBlock> walk_to_the_end(FileScan& scan) {
    std::vector<RecordBlock> all;
    while (true) {
      std::span<const RecordBlock> blocks = scan.next();
      if (blocks.empty()) return all;
      all.insert(all.end(), blocks.begin(), blocks.end());
    }
  }
  static Seen look_at_all(const std::vector<RecordBlock>& blocks) {
    Seen seen;
    for (const RecordBlock& block : blocks) add(seen, look_at(block));
    return seen;
  }
  /// Bytes of the file that are mapped into this process, from /proc/self/smaps.
  [[nodiscard]] uint64_t mapped() const {
    std::ifstream smaps("/proc/self/smaps");
    bool is_ours = false;
    uint64_t kilobytes = 0;
    for (std::string line; std::getline(smaps, line);) {
      std::string_view text = line;
      if (size_t colon = text.find(':'); colon == text.npos || colon > text.find(' ')) {
        is_ours = text.ends_with(path_);
      } else if (is_ours && text.starts_with("Rss:")) {
        std::string_view number = trim(text.substr(4));
        kilobytes += parse_number(number.substr(0, number.find(' '))).value_or(0);
      }
    }
    return kilobytes << 10;
  }

  std::string path_;
  size_t size_of_records_ = 0;
  LossLedger losses_;
};

TEST_F(FileScanTest, GivesEveryRecordOnce) {
  FileScan scan = open();
  EXPECT_EQ(look_at_all(walk_to_the_end(scan)), kAll);
  EXPECT_TRUE(scan.next().empty());
  EXPECT_EQ(losses_.total(), 0u);
}

TEST_F(FileScanTest, PassedPagesGoBackAndComeAgain) {
  FileScan scan = open();
  std::vector<RecordBlock> blocks;
  uint64_t most = 0;
  while (true) {
    std::span<const RecordBlock> next = scan.next();
    if (next.empty()) break;
    EXPECT_GT(look_at(next.front()).samples, 0u);
    blocks.insert(blocks.end(), next.begin(), next.end());
    most = std::max(most, mapped());
  }
  EXPECT_LT(most, size_of_records_ * 2 / 3);
  EXPECT_EQ(look_at_all(blocks), kAll);
  EXPECT_GT(mapped(), size_of_records_ / 2);
  scan.forget_all();
  EXPECT_LT(mapped(), size_of_records_ / 4);
  EXPECT_EQ(look_at_all(blocks), kAll);
}

TEST_F(FileScanTest, WorkersMayFallBehind) {
  constexpr size_t kBehind = size_t{3} << 20;
  FileScan scan = open();
  scan.share_work(kBehind);
  std::vector<RecordBlock> blocks;
  Seen seen;
  size_t looked_at = 0, bytes_behind = 0;
  uint64_t most = 0;
  while (true) {
    std::span<const RecordBlock> next = scan.next();
    if (next.empty()) break;
    for (const RecordBlock& block : next) bytes_behind += block.bytes.size();
    blocks.insert(blocks.end(), next.begin(), next.end());
    std::jthread tending([&] { scan.tend(); });
    while (bytes_behind > kBehind) {
      bytes_behind -= blocks[looked_at].bytes.size();
      add(seen, look_at(blocks[looked_at++]));
    }
    most = std::max(most, mapped());
  }
  while (looked_at < blocks.size()) add(seen, look_at(blocks[looked_at++]));
  EXPECT_EQ(seen, kAll);
  EXPECT_LT(most, size_of_records_ * 4 / 5);
}

TEST_F(FileScanTest, APipesContentComesAsAWhole) {
  FileBuilder pipe;
  EventDesc event;
  event.attr.type = abi::kTypeSoftware;
  event.attr.sample_type = abi::kSampleIp | abi::kSampleTime;
  pipe.events = {event};
  Sample sample;
  sample.ip = 5;
  encode_sample(sample, event.attr, pipe.data);
  write(pipe.pipe());
  FileScan scan = open();
  scan.share_work(0);
  scan.tend();
  Seen seen;
  for (const RecordBlock& block : walk_to_the_end(scan)) {
    RecordView record;
    for (RecordRange range(block, kHostOrder); range.next(record);)
      seen.samples += record.type == abi::kRecordSample ? 1 : 0;
  }
  EXPECT_EQ(seen.samples, 1u);
  scan.forget_all();
}

}  // namespace
}  // namespace sonde
