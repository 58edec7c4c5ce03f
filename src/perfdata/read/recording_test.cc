#include "perfdata/read/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "perfdata/read/stream_reader.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/text/file_builder.h"
#include "perfdata/write/compressor.h"

namespace sonde {
namespace {

using testing::ElementsAre;

constexpr ByteOrder kFileOrders[] = {ByteOrder::kLittle, ByteOrder::kBig};

/// Two events and a few records of each.
FileBuilder small_file(ByteOrder order) {
  FileBuilder file(order);
  for (uint64_t i = 0; i < 2; ++i) {
    EventDesc event;
    event.attr.type = abi::kTypeSoftware;
    event.attr.config = i;
    event.attr.sample_type = abi::kSampleIdentifier | abi::kSampleIp | abi::kSampleTime;
    event.attr.sample_id_all = 1;
    event.attr.exclude_guest = 1;
    event.name = i == 0 ? "one" : "two";
    event.ids = {100 + i, 200 + i};
    file.events.push_back(event);
  }
  file.features.hostname = "here";
  file.features.arch = "x86_64";
  file.features.groups = {{"{one,two}", 0, 2}};
  file.features.present = {abi::kFeatureHostname, abi::kFeatureArch, abi::kFeatureEventDesc,
                           abi::kFeatureGroupDesc};
  const abi::EventAttr& attr = file.events[0].attr;
  encode(CommRecord{7, 8, "worker", false}, {.attr = &attr, .id = kSynthesisedId}, file.data);
  for (uint64_t i = 0; i < 10; ++i) {
    Sample sample;
    sample.id.id = i % 2 == 0 ? 200 : 101;
    sample.ip = 0x1000 + i;
    sample.id.time = 50 + i;
    encode_sample(sample, attr, file.data);
  }
  encode_empty(abi::kRecordFinishedRound, file.data);
  return file;
}

std::vector<uint32_t> types(std::span<const RecordBlock> blocks, ByteOrder order) {
  std::vector<uint32_t> all;
  RecordView record;
  for (const RecordBlock& block : blocks)
    for (RecordRange range(block, order); range.next(record);) all.push_back(record.type);
  return all;
}

void expect_small_file(const Recording& recording) {
  ASSERT_EQ(recording.events().size(), 2u);
  EXPECT_EQ(recording.events().all()[0].name, "one");
  EXPECT_EQ(recording.events().all()[1].name, "two");
  EXPECT_EQ(recording.events().all()[0].group_size, 2u);
  EXPECT_EQ(recording.events().all()[1].leader, EventId(size_t{0}));
  EXPECT_EQ(recording.features().hostname, "here");
  EXPECT_TRUE(recording.features().has(abi::kFeatureArch));
  EXPECT_EQ(recording.word_size(), 8u);
  EXPECT_EQ(recording.record_counts().by_type[abi::kRecordSample], 10u);
  uint64_t ips = 0;
  RecordView record;
  for (const RecordBlock& block : recording.blocks()) {
    for (RecordRange range(block, recording.byte_order()); range.next(record);) {
      if (record.type != abi::kRecordSample) continue;
      EventId event = recording.events().of(record);
      ASSERT_TRUE(event.valid());
      Sample sample;
      ASSERT_TRUE(decode_sample(record, recording.events()[event].layout, sample));
      EXPECT_EQ(event.index(), sample.ip % 2);
      ips += sample.ip;
    }
  }
  EXPECT_EQ(ips, 10 * 0x1000 + 45u);
}

/// A temporary file that is removed at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<std::byte>& content)
      : path_(testing::TempDir() + "sonde-recording-" + std::to_string(::getpid()) + ".data") {
    std::ofstream out(path_, std::ios::binary);
    out.write(reinterpret_cast<const char*>(content.data()),
              static_cast<std::streamsize>(content.size()));
  }
  ~TemporaryFile() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Recording, FileAndPipeInBothByteOrders) {
  for (ByteOrder order : kFileOrders) {
    FileBuilder builder = small_file(order);
    for (bool pipe : {false, true}) {
      std::vector<std::byte> bytes = pipe ? builder.pipe() : builder.file();
      LossLedger losses;
      auto recording = Recording::open_bytes(bytes, "test", losses);
      ASSERT_TRUE(recording) << recording.error().message;
      EXPECT_EQ(recording->facts().is_pipe, pipe);
      EXPECT_EQ(recording->byte_order(), order);
      expect_small_file(*recording);
      EXPECT_EQ(losses.total(), 0u);
    }
  }
}

TEST(Recording, FeatureBitsOfNarrowBigEndianMachines) {
  for (ByteOrder order : kFileOrders) {
    FileBuilder builder = small_file(order);
    builder.bitmap_word_size = 4;
    std::vector<std::byte> bytes = builder.file();
    LossLedger losses;
    auto recording = Recording::open_bytes(bytes, "test", losses);
    ASSERT_TRUE(recording);
    expect_small_file(*recording);
    EXPECT_EQ(losses.total(), 0u);
  }
}

TEST(Recording, AttrsOfEverySize) {
  for (uint32_t size : {64u, 72u, 80u, 96u, 104u, 112u, 120u, 128u, 136u, 144u, 256u}) {
    FileBuilder builder = small_file(kHostOrder);
    builder.attr_size = size;
    for (bool pipe : {false, true}) {
      std::vector<std::byte> bytes = pipe ? builder.pipe() : builder.file();
      LossLedger losses;
      auto recording = Recording::open_bytes(bytes, "test", losses);
      ASSERT_TRUE(recording) << size;
      EXPECT_EQ(recording->events().all()[0].attr.size, size);
      expect_small_file(*recording);
      EXPECT_EQ(losses.total(), 0u) << size;
    }
  }
}

/// Of a file its pages go, of anybody else's memory nothing; the records stay the same.
TEST(Recording, ReleasedPagesAreReadAgain) {
  FileBuilder builder = small_file(kHostOrder);
  std::vector<std::byte> once(builder.data.view().begin(), builder.data.view().end());
  for (int copies = 0; copies < 1000; ++copies) builder.data.bytes(once);
  std::vector<std::byte> bytes = builder.file();
  std::string path = testing::TempDir() + "sonde-pages-" + std::to_string(::getpid()) + ".data";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  LossLedger losses;
  auto mapped = Recording::open(path, {}, losses),
       viewed = Recording::open_bytes(bytes, path, losses);
  std::filesystem::remove(path);
  ASSERT_TRUE(mapped && viewed);
  for (const Recording* recording : {&*mapped, &*viewed}) {
    std::vector<uint32_t> before = types(recording->blocks(), kHostOrder);
    ASSERT_GT(before.size(), 1000u);
    recording->release_pages(recording->blocks());
    EXPECT_EQ(types(recording->blocks(), kHostOrder), before);
  }
}

TEST(Recording, CrashedRecorder) {
  FileBuilder builder = small_file(kHostOrder);
  builder.crashed = true;
  std::vector<std::byte> bytes = builder.file();
  LossLedger losses;
  auto recording = Recording::open_bytes(bytes, "test", losses);
  ASSERT_TRUE(recording);
  EXPECT_TRUE(recording->facts().recorder_crashed);
  EXPECT_EQ(recording->record_counts().by_type[abi::kRecordSample], 10u);
  EXPECT_TRUE(recording->features().present.empty());
  EXPECT_EQ(losses.total(), 1u);
  EXPECT_EQ(losses.count(LossKind::k_unfinished_file), 1u);
  EXPECT_EQ(losses.lost_share(), 0);
  // Half a record at the end, as a full disk leaves behind.
  bytes.resize(bytes.size() - 20);
  auto cut = Recording::open_bytes(bytes, "test", losses);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->record_counts().by_type[abi::kRecordSample], 9u);
  EXPECT_GT(losses.count(LossKind::k_truncated_file), 0u);
}

TEST(Recording, BuildIdsAmongTheRecordsAreThoseOfTheSection) {
  auto entry = [](std::string path, uint64_t inode) {
    return BuildIdEntry{.misc = abi::kMiscUser,
                        .build_id = std::string(20, 'i'),
                        .path = std::move(path),
                        .file = {.major = 8, .minor = 1, .inode = inode}};
  };
  for (bool crashed : {false, true}) {
    FileBuilder builder = small_file(kHostOrder);
    builder.crashed = crashed;
    builder.features.build_ids = {entry("/one", 0), entry("/two", 5)};
    builder.features.build_ids[0].file = {};
    builder.features.present.insert(builder.features.present.begin(), abi::kFeatureBuildId);
    // /one of any file is known; of /two, one file is.
    for (auto [path, inode] : {std::pair{"/one", 4}, {"/two", 5}, {"/two", 6}, {"/two", 6}})
      encode(entry(path, static_cast<uint64_t>(inode)), abi::kRecordHeaderBuildId, builder.data);
    LossLedger losses;
    std::vector<std::byte> bytes = builder.file();
    auto recording = Recording::open_bytes(bytes, "test", losses);
    ASSERT_TRUE(recording);
    const std::vector<BuildIdEntry>& ids = recording->features().build_ids;
    ASSERT_EQ(ids.size(), 3u);
    EXPECT_EQ(ids[0].path, "/one");
    EXPECT_EQ(ids[1].path, "/two");
    EXPECT_EQ(ids[2].file.inode, 6u);
  }
}

TEST(Recording, CrashedRecorderThatWantedNoFeatures) {
  FileBuilder builder = small_file(kHostOrder);
  builder.features = {};
  builder.crashed = true;
  LossLedger losses;
  std::vector<std::byte> bytes = builder.file();
  auto recording = Recording::open_bytes(bytes, "test", losses);
  ASSERT_TRUE(recording);
  EXPECT_TRUE(recording->facts().recorder_crashed);
  EXPECT_EQ(recording->record_counts().by_type[abi::kRecordSample], 10u);
  EXPECT_EQ(losses.count(LossKind::k_unfinished_file), 1u);
}

TEST(Recording, NothingRecordedIsNoCrash) {
  FileBuilder builder = small_file(kHostOrder);
  builder.features = {};
  builder.data = ByteBuilder(kHostOrder);
  LossLedger losses;
  std::vector<std::byte> bytes = builder.file();
  auto recording = Recording::open_bytes(bytes, "test", losses);
  ASSERT_TRUE(recording);
  EXPECT_FALSE(recording->facts().recorder_crashed);
  EXPECT_EQ(losses.damage_summary(), "");
}

TEST(Recording, TruncationAtEveryByteIsAnErrorOrALoss) {
  for (ByteOrder order : kFileOrders) {
    FileBuilder builder = small_file(order);
    for (bool pipe : {false, true}) {
      std::vector<std::byte> whole = pipe ? builder.pipe() : builder.file();
      for (size_t size = 0; size < whole.size(); ++size) {
        std::vector<std::byte> bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
        LossLedger losses;
        auto recording = Recording::open_bytes(bytes, "test", losses);
        if (!recording) {
          EXPECT_EQ(recording.error().code, ErrorCode::kCorrupt);
        } else if (!pipe) {  // a pipe may end after any record
          EXPECT_GT(losses.total(), 0u) << size;
          EXPECT_FALSE(losses.damage().empty()) << size;
        }
      }
    }
  }
}

TEST(Recording, ARecordThatEndsTheScanIsNamed) {
  for (bool pipe : {false, true}) {
    FileBuilder builder = small_file(kHostOrder);
    uint64_t whole = (pipe ? builder.pipe() : builder.file()).size();
    builder.data.u32(abi::kRecordSample);
    builder.data.u16(0);
    builder.data.u16(4);
    std::vector<std::byte> bytes = pipe ? builder.pipe() : builder.file();
    LossLedger losses;
    auto recording = Recording::open_bytes(bytes, "test", losses);
    ASSERT_TRUE(recording);
    expect_small_file(*recording);
    EXPECT_EQ(bytes.size(), whole + 8);
    const FileFacts& facts = recording->facts();
    ASSERT_EQ(losses.entries().size(), 1u);
    EXPECT_EQ(losses.entries()[0].kind, LossKind::k_trailing_garbage);
    EXPECT_EQ(
        losses.entries()[0].example,
        fmt::format("PERF_RECORD_SAMPLE at file offset {:#x}: size 4 is less than that of its "
                    "header",
                    facts.data_offset + facts.data_size - 8));
    EXPECT_DOUBLE_EQ(losses.lost_share(), 8 / static_cast<double>(facts.data_size));
  }
}

TEST(Recording, UnknownAndPrivateRecordsAreCountedAndSkipped) {
  FileBuilder builder = small_file(kHostOrder);
  encode_raw(50, 0, as_bytes("01234567"), builder.data);
  encode_raw(120, 0, as_bytes("01234567"), builder.data);
  encode_raw(5000, 0, as_bytes("01234567"), builder.data);
  // simpleperf's private record of more than 64 KiB: the upper half of its size is in `misc`.
  builder.data.u32(abi::kRecordSimpleperfStart + 1);
  builder.data.u16(1);
  builder.data.u16(8);
  builder.data.zeros(65536);
  std::vector<std::byte> bytes = builder.file();
  LossLedger losses;
  auto recording = Recording::open_bytes(bytes, "test", losses);
  ASSERT_TRUE(recording);
  expect_small_file(*recording);
  EXPECT_EQ(losses.count(LossKind::k_unknown_record), 3u);
  EXPECT_EQ(losses.count(LossKind::k_private_record), 1u);
  EXPECT_EQ(losses.total(), 4u);
}

TEST(Recording, GarbageBehindThePipe) {
  std::vector<std::byte> bytes = small_file(kHostOrder).pipe();
  for (char c : std::string("[ perf record: Woken up 1 times to write data ]\n"))
    bytes.push_back(static_cast<std::byte>(c));
  LossLedger losses;
  auto recording = Recording::open_bytes(bytes, "test", losses);
  ASSERT_TRUE(recording);
  expect_small_file(*recording);
  EXPECT_EQ(losses.count(LossKind::k_trailing_garbage), 48u);
}

TEST(Recording, AuxDataFollowsItsRecord) {
  FileBuilder builder = small_file(kHostOrder);
  encode(AuxtraceRecord{.size = 24, .offset = 0, .reference = 1, .index = 0, .tid = 0, .cpu = 0},
         builder.data);
  builder.data.text("looks like no record at ");
  encode_empty(abi::kRecordFinishedRound, builder.data);
  std::vector<std::byte> bytes = builder.file();
  LossLedger losses;
  auto recording = Recording::open_bytes(bytes, "test", losses);
  ASSERT_TRUE(recording);
  expect_small_file(*recording);
  EXPECT_EQ(recording->record_counts().by_type[abi::kRecordFinishedRound], 2u);
  ASSERT_EQ(recording->blocks().size(), 2u);
  EXPECT_EQ(as_text(recording->blocks()[0].trailing), "looks like no record at ");
  EXPECT_EQ(losses.total(), 0u);
}

TEST(Recording, CompressedRecordsAreExpandedInPlace) {
  FileBuilder plain = small_file(kHostOrder);
  FileBuilder packed = small_file(kHostOrder);
  packed.data.clear();
  auto compressor = RecordCompressor::create(3);
  Bytes records = plain.data.view();
  // Boundaries inside records.
  for (size_t piece : {50ul, 77ul, records.size() - 127}) {
    ASSERT_TRUE(compressor->compress(records.first(piece), packed.data));
    records = records.subspan(piece);
  }
  std::vector<std::byte> bytes = packed.file();
  LossLedger losses;
  auto recording = Recording::open_bytes(bytes, "test", losses);
  ASSERT_TRUE(recording);
  expect_small_file(*recording);
  EXPECT_EQ(recording->record_counts().by_type[abi::kRecordCompressed], 3u);
  for (const RecordBlock& block : recording->blocks())
    EXPECT_GE(block.file_offset, recording->facts().data_offset);
  EXPECT_EQ(losses.total(), 0u);
}

TEST(Recording, NamesWithoutEventDesc) {
  FileBuilder builder = small_file(kHostOrder);
  builder.features.present = {abi::kFeatureHostname};
  std::vector<std::byte> bytes = builder.file();
  LossLedger losses;
  auto recording = Recording::open_bytes(bytes, "test", losses);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->events().all()[0].name, "cpu-clock");
  EXPECT_EQ(recording->events().all()[1].name, "task-clock");
}

TEST(Recording, OpensFilesByPath) {
  TemporaryFile file(small_file(kHostOrder).file());
  LossLedger losses;
  auto recording = Recording::open(file.path(), {}, losses);
  ASSERT_TRUE(recording);
  expect_small_file(*recording);
  EXPECT_GT(recording->facts().modified_ns, 0);
  auto absent = Recording::open(file.path() + ".no", {}, losses);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  TemporaryFile text({std::byte{'h'}, std::byte{'i'}});
  EXPECT_EQ(Recording::open(text.path(), {}, losses).error().code, ErrorCode::kCorrupt);
  TemporaryFile empty({});
  EXPECT_THAT(Recording::open(empty.path(), {}, losses).error().message,
              testing::HasSubstr("zero-sized data"));
}

TEST(Recording, DirectoryHoldsOneStreamPerFile) {
  FileBuilder builder = small_file(kHostOrder);
  std::string directory = testing::TempDir() + "sonde-directory-" + std::to_string(::getpid());
  std::filesystem::create_directory(directory);
  auto write = [&](const std::string& name, Bytes bytes) {
    std::ofstream(directory + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  std::vector<std::byte> main = builder.file();
  write("data", main);
  write("data.10", builder.data.view());
  write("data.2", builder.data.view());
  write("data.notes", as_bytes("not ours"));
  LossLedger losses;
  auto recording = Recording::open(directory, {}, losses);
  std::filesystem::remove_all(directory);
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_TRUE(recording->facts().is_directory);
  EXPECT_EQ(recording->record_counts().by_type[abi::kRecordSample], 30u);
  std::vector<uint32_t> streams;
  for (const RecordBlock& block : recording->blocks()) streams.push_back(block.stream);
  EXPECT_THAT(streams, ElementsAre(0, 3, 11));
  EXPECT_EQ(losses.total(), 0u);
}

/// Feeds bytes into a pipe in small pieces.
class Feeder {
 public:
  Feeder(std::vector<std::byte> bytes, size_t piece) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    read_end_ = ends[0];
    thread_ = std::jthread([bytes = std::move(bytes), piece, fd = ends[1]] {
      for (size_t at = 0; at < bytes.size(); at += piece)
        EXPECT_GT(::write(fd, bytes.data() + at, std::min(piece, bytes.size() - at)), 0);
      ::close(fd);
    });
  }
  ~Feeder() {
    thread_.join();
    ::close(read_end_);
  }
  [[nodiscard]] int fd() const { return read_end_; }

 private:
  int read_end_ = -1;
  std::jthread thread_;
};

TEST(Recording, PipesAreSpooled) {
  for (uint64_t limit : {uint64_t{1} << 30, uint64_t{1}}) {  // in memory, on disk
    FileBuilder builder = small_file(kHostOrder);
    for (int i = 0; i < 40; ++i)
      encode_raw(abi::kRecordFinishedRound, 0, std::vector<std::byte>(60000), builder.data);
    Feeder feeder(builder.pipe(), 5000);
    LossLedger losses;
    auto recording =
        Recording::open("-", {.stdin_fd = feeder.fd(), .spool_limit_bytes = limit}, losses);
    ASSERT_TRUE(recording);
    expect_small_file(*recording);
    EXPECT_EQ(losses.total(), 0u);
  }
}

TEST(StreamReader, GivesTheSameRecordsAsARecording) {
  for (ByteOrder order : kFileOrders) {
    FileBuilder builder = small_file(order);
    for (bool pipe : {true, false}) {
      std::vector<std::byte> bytes = pipe ? builder.pipe() : builder.file();
      LossLedger losses;
      auto recording = Recording::open_bytes(bytes, "test", losses);
      ASSERT_TRUE(recording);
      std::vector<uint32_t> expected = types(recording->blocks(), order);
      for (size_t piece : {1ul, 13ul, 4096ul}) {
        Feeder feeder(bytes, piece);
        auto reader = StreamReader::open(feeder.fd(), "-", {}, losses);
        ASSERT_TRUE(reader);
        std::vector<uint32_t> seen;
        while (true) {
          auto blocks = reader->next();
          ASSERT_TRUE(blocks);
          if (blocks->empty()) break;
          std::vector<uint32_t> some = types(*blocks, order);
          seen.insert(seen.end(), some.begin(), some.end());
        }
        EXPECT_EQ(seen, expected);
        EXPECT_EQ(reader->events().all()[1].name, "two");
        EXPECT_EQ(reader->features().hostname, "here");
      }
      EXPECT_EQ(losses.total(), 0u);
    }
  }
}

TEST(StreamReader, MemoryCanBeReleased) {
  FileBuilder builder = small_file(kHostOrder);
  builder.features.present.clear();
  for (uint64_t i = 0; i < 400; ++i)
    encode_raw(abi::kRecordComm, 0, std::vector<std::byte>(40000, static_cast<std::byte>(i)),
               builder.data);
  Feeder feeder(builder.pipe(), 65536);
  LossLedger losses;
  auto reader = StreamReader::open(feeder.fd(), "-", {}, losses);
  ASSERT_TRUE(reader);
  StreamReader::Mark previous = reader->mark();
  uint64_t comms = 0;
  while (true) {
    auto blocks = reader->next();
    ASSERT_TRUE(blocks);
    if (blocks->empty()) break;
    RecordView record;
    for (const RecordBlock& block : *blocks) {
      for (RecordRange range(block, kHostOrder); range.next(record);) {
        if (record.payload.size() != 40000) continue;
        EXPECT_EQ(record.payload.front(), static_cast<std::byte>(comms));
        EXPECT_EQ(record.payload.back(), static_cast<std::byte>(comms));
        ++comms;
      }
    }
    reader->release_before(previous);
    previous = reader->mark();
  }
  EXPECT_EQ(comms, 400u);
  EXPECT_GT(previous.input, 10u);
}

}  // namespace
}  // namespace sonde
