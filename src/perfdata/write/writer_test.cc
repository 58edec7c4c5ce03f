#include "perfdata/write/writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <filesystem>
#include <random>

#include "abi/perf_event.h"
#include "perfdata/header/file_layout.h"
#include "perfdata/read/recording.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

class WriterTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "sonde_writer_" + std::to_string(::getpid());
    std::filesystem::create_directories(directory_);
    path_ = directory_ + "/perf.data";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string directory_, path_;
};

EventDesc clock_event() {
  EventDesc event;
  event.attr.type = abi::kTypeSoftware;
  event.attr.sample_type = abi::kSampleIp | abi::kSampleTid | abi::kSampleTime;
  event.name = "cpu-clock";
  event.ids = {100, 101};
  return event;
}
Features named() {
  Features features;
  features.hostname = "vm";
  mark_present(features);
  return features;
}
/// `count` distinguishable records of 64 bytes.
ByteBuilder numbered_records(uint64_t count, uint64_t first = 0) {
  ByteBuilder out;
  for (uint64_t i = first; i < first + count; ++i) {
    ByteBuilder payload;
    for (int k = 0; k < 7; ++k) payload.u64(i);
    encode_raw(abi::kRecordSample, 0, payload.view(), out);
  }
  return out;
}

struct ReadBack {
  uint64_t data_offset, data_size, features;
  std::string bytes;
  [[nodiscard]] std::string_view data() const {
    return std::string_view(bytes).substr(data_offset, data_size);
  }
};
ReadBack read_back(const std::string& path) {
  ReadBack r;
  r.bytes = read_file(path).value();
  ByteCursor in(as_bytes(r.bytes));
  EXPECT_EQ(in.u64(), kFileMagic);
  EXPECT_EQ(in.u64(), kFileHeaderSize);
  in.skip(3 * 8);
  r.data_offset = in.u64();
  r.data_size = in.u64();
  in.skip(16);
  r.features = in.u64();
  return r;
}

TEST_F(WriterTest, FileHoldsWhatWasWrittenInOrder) {
  auto writer = PerfDataWriter::create(path_, {});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->begin({clock_event()}, {}));
  ByteBuilder small = numbered_records(3), large = numbered_records(5000, 3),
              wrapped = numbered_records(2, 5003);
  ASSERT_TRUE(writer->main().write(small.view()));
  ASSERT_TRUE(writer->main().write(large.view()));
  // The ring's wrap is inside a record.
  ASSERT_TRUE(writer->main().write_ring(wrapped.view().first(70), wrapped.view().subspan(70)));
  EXPECT_EQ(writer->bytes_written(), 5005u * 64);
  ASSERT_TRUE(writer->finish(named()));

  ReadBack file = read_back(path_);
  EXPECT_EQ(file.data_offset, kFileHeaderSize + 2 * 8 + 144);
  EXPECT_EQ(file.data(), as_text(numbered_records(5005).view()));
  EXPECT_EQ(file.features, (1u << abi::kFeatureHostname) | (1u << abi::kFeatureEventDesc));
}

/// What a recorder knows when it begins.
Features known_early() {
  Features features = named();
  features.hostname = "a host of its own";
  features.command_line = {"sonde", "record"};
  mark_present(features);
  return features;
}

TEST_F(WriterTest, AFileWhoseWriterWasKilledHasWhatWasKnown) {
  for (uint64_t records : {0u, 3u}) {
    auto writer = PerfDataWriter::create(path_, {});
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->begin({clock_event()}, known_early()));
    ASSERT_TRUE(writer->main().write(numbered_records(records).view()));
    ASSERT_TRUE(records > 0 ? writer->main().settle() : writer->main().flush());
    EXPECT_EQ(read_back(path_).data_size, records * 64) << "perf reads them";
    LossLedger losses;
    auto recording = Recording::open(path_, {}, losses);
    ASSERT_TRUE(recording);
    EXPECT_EQ(losses.count(LossKind::k_unfinished_file), 1u);
    EXPECT_EQ(losses.total(), 1u);
    EXPECT_EQ(recording->features().hostname, "a host of its own");
    EXPECT_EQ(recording->features().command_line, known_early().command_line);
    EXPECT_EQ(recording->events().all().front().name, "cpu-clock");
    EXPECT_EQ(recording->record_counts().by_type[abi::kRecordSample], records);
  }
}

TEST_F(WriterTest, WhatWasKnownIsInAFinishedFileOnce) {
  auto writer = PerfDataWriter::create(path_, {});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->begin({clock_event()}, known_early()));
  ASSERT_TRUE(writer->main().write(numbered_records(3).view()));
  Features features = known_early();
  features.command_line.emplace_back("changed");
  features.build_ids = {{.build_id = "01234567890123456789", .path = "/a"}};
  mark_present(features);
  ASSERT_TRUE(writer->finish(features));

  ReadBack file = read_back(path_);
  size_t host = file.bytes.find("a host of its own");
  EXPECT_LT(host, file.data_offset);
  EXPECT_EQ(file.bytes.find("a host of its own", host + 1), std::string::npos);
  LossLedger losses;
  auto recording = Recording::open(path_, {}, losses);
  ASSERT_TRUE(recording);
  EXPECT_EQ(losses.total(), 0u);
  EXPECT_EQ(recording->features().hostname, "a host of its own");
  EXPECT_EQ(recording->features().command_line, features.command_line);
  EXPECT_EQ(recording->features().build_ids.size(), 1u);
}

TEST_F(WriterTest, ACutFileHasWhatIsInFrontOfItsRecords) {
  auto writer = PerfDataWriter::create(path_, {});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->begin({clock_event()}, known_early()));
  ASSERT_TRUE(writer->main().write(numbered_records(30).view()));
  ASSERT_TRUE(writer->finish(known_early()));
  std::filesystem::resize_file(path_, read_back(path_).data_offset + 64);
  LossLedger losses;
  auto recording = Recording::open(path_, {}, losses);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->features().hostname, "a host of its own");
  EXPECT_EQ(losses.count(LossKind::k_bad_feature), 0u);
  EXPECT_GT(losses.count(LossKind::k_truncated_file), 0u);
}

TEST_F(WriterTest, DirectoryHasAFilePerStream) {
  auto writer = PerfDataWriter::create(path_, {.directory_streams = 2});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->begin({clock_event()}, {}));
  ByteBuilder a = numbered_records(1), b = numbered_records(1, 1), c = numbered_records(1, 2);
  ASSERT_TRUE(writer->main().write(a.view()));
  ASSERT_TRUE(writer->stream(0).write(b.view()));
  ASSERT_TRUE(writer->stream(1).write(c.view()));
  ASSERT_TRUE(writer->finish(named()));
  ReadBack file = read_back(path_ + "/data");
  EXPECT_EQ(file.data(), as_text(a.view()));
  EXPECT_NE(file.features & (1u << abi::kFeatureDirFormat), 0u);
  EXPECT_EQ(read_file(path_ + "/data.0").value(), as_text(b.view()));
  EXPECT_EQ(read_file(path_ + "/data.1").value(), as_text(c.view()));
}

std::string expand(std::string_view records) {
  std::string out;
  ZSTD_DCtx* context = ZSTD_createDCtx();
  RecordBlock block;
  block.bytes = as_bytes(records);
  RecordRange range(block, kHostOrder);
  for (RecordView record; range.next(record);) {
    EXPECT_EQ(record.type, abi::kRecordCompressed);
    ZSTD_inBuffer in{record.payload.data(), record.payload.size(), 0};
    std::vector<char> room(1 << 20);
    while (true) {
      ZSTD_outBuffer to{room.data(), room.size(), 0};
      size_t status = ZSTD_decompressStream(context, &to, &in);
      EXPECT_EQ(ZSTD_isError(status), 0u);
      out.append(room.data(), to.pos);
      if (in.pos == in.size && to.pos < to.size) break;
    }
  }
  EXPECT_EQ(range.stopped_at(), records.size());
  ZSTD_freeDCtx(context);
  return out;
}

TEST_F(WriterTest, CompressedRecordsExpandToWhatWasWritten) {
  auto writer = PerfDataWriter::create(path_, {.compression_level = 1, .mmap_length = 128 * 1024});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->begin({clock_event()}, {}));
  // Random bytes don't compress, so each piece needs several COMPRESSED records.
  std::mt19937_64 random(1);
  ByteBuilder all;
  for (int i = 0; i < 4000; ++i) {
    ByteBuilder payload;
    for (int k = 0; k < 7; ++k) payload.u64(i % 2 == 0 ? random() : 0);
    encode_raw(abi::kRecordSample, 0, payload.view(), all);
  }
  Bytes bytes = all.view();
  ASSERT_TRUE(writer->main().write_ring(bytes.first(200'000)));
  ASSERT_TRUE(writer->main().write_ring(bytes.subspan(200'000, 1000), bytes.subspan(201'000)));
  ASSERT_TRUE(writer->finish(named()));
  ReadBack file = read_back(path_);
  EXPECT_EQ(expand(file.data()), as_text(bytes));
  EXPECT_LT(file.data_size, bytes.size());
  auto [in, out] = writer->compression_in_out();
  EXPECT_EQ(in, bytes.size());
  EXPECT_EQ(out, file.data_size);
  EXPECT_NE(file.features & (1u << abi::kFeatureCompressed), 0u);
}

/// A disk with space for this many bytes.
class SmallDisk final : public Sys {
 public:
  explicit SmallDisk(size_t room) : room_(room) {}
  SysResult<size_t> write(int fd, const void* buffer, size_t size) override {
    auto at = static_cast<size_t>(::lseek(fd, 0, SEEK_CUR));
    if (at >= room_) return std::unexpected(ENOSPC);
    return host_.write(fd, buffer, std::min(size, room_ - at));
  }
  SysResult<int> open(const std::string& p, int flags, mode_t mode) override {
    return host_.open(p, flags, mode);
  }
  SysResult<int> perf_event_open(perf_event_attr*, pid_t, int, int, unsigned long) override {
    return std::unexpected(ENOSYS);
  }
  SysResult<int> ioctl(int, unsigned long, uint64_t) override { return std::unexpected(ENOSYS); }
  SysResult<void*> mmap(size_t, int, int, int, off_t) override { return std::unexpected(ENOSYS); }
  SysResult<int> munmap(void*, size_t) override { return std::unexpected(ENOSYS); }
  SysResult<size_t> read(int, void*, size_t) override { return std::unexpected(ENOSYS); }
  SysResult<int> close(int fd) override { return host_.close(fd); }
  uid_t geteuid() override { return 0; }

 private:
  Sys& host_ = Sys::host();
  size_t room_;
};

TEST_F(WriterTest, FullDiskLeavesAReadableFile) {
  for (size_t room : {400'000u, 400'001u, 1'000'017u}) {
    SmallDisk disk(room);
    auto writer = PerfDataWriter::create(path_, {.sys = &disk});
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->begin({clock_event()}, {}));
    std::optional<Error> error;
    for (uint64_t i = 0; i < 40'000 && !error; i += 100) {
      ByteBuilder records = numbered_records(100, i);
      if (auto result = writer->main().write(records.view()); !result) error = result.error();
    }
    ASSERT_TRUE(error);
    EXPECT_NE(error->message.find(path_), std::string::npos);
    EXPECT_NE(error->message.find("No space left on device"), std::string::npos);
    auto finished = writer->finish(named());
    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().message, error->message);

    ReadBack file = read_back(path_);
    EXPECT_LE(file.bytes.size(), room);
    EXPECT_GT(file.data_size, 100'000u);
    EXPECT_EQ(file.data_size % 64, 0u);
    EXPECT_EQ(file.data(), as_text(numbered_records(file.data_size / 64).view()));
    EXPECT_NE(file.features & (1u << abi::kFeatureHostname), 0u);
  }
}

TEST_F(WriterTest, DiskThatIsFullForFeaturesOnlyGivesBackRecords) {
  ByteBuilder records = numbered_records(10'000);
  SmallDisk disk(records.size() + 1000);
  auto writer = PerfDataWriter::create(path_, {.sys = &disk});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->begin({clock_event()}, {}));
  for (size_t at = 0; at < records.size(); at += 64'000)
    ASSERT_TRUE(writer->main().write(records.view().subspan(at, 64'000)));
  Features features = named();
  features.command_line.assign(100, "argument");
  mark_present(features);
  EXPECT_FALSE(writer->finish(features)) << "records were given up, so the user must know";
  ReadBack file = read_back(path_);
  EXPECT_EQ(file.data(), as_text(numbered_records(file.data_size / 64).view()));
  EXPECT_NE(file.features & (1u << abi::kFeatureCmdline), 0u);
}

TEST_F(WriterTest, PipeThatIsFullSaysSo) {
  Fd full(::open("/dev/full", O_WRONLY));
  ASSERT_TRUE(full.valid());
  auto writer = PerfDataWriter::pipe(std::move(full), "-", {});
  ASSERT_TRUE(writer);
  auto result = writer->begin({clock_event()}, named());
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("No space left on device"), std::string::npos);
}

/// What gives way is as little as can be: the last records only, all of which fit into a few pages.
TEST_F(WriterTest, FullDiskKeepsAllButTheLastRecords) {
  // One write for all, as of a ring that is read at the end, or many.
  for (size_t piece : {size_t{640'000}, size_t{6'400}, size_t{64}}) {
    for (size_t room : {30'000u, 300'007u, 500'000u}) {
      SmallDisk disk(room);
      auto writer = PerfDataWriter::create(path_, {.sys = &disk});
      ASSERT_TRUE(writer);
      ASSERT_TRUE(writer->begin({clock_event()}, {}));
      ByteBuilder records = numbered_records(10'000);
      Result<> wrote;
      for (size_t at = 0; at < records.size() && wrote; at += piece)
        wrote =
            writer->main().write(records.view().subspan(at, std::min(piece, records.size() - at)));
      if (wrote) wrote = writer->main().flush();
      ASSERT_FALSE(wrote);
      EXPECT_FALSE(writer->finish(named()));
      ReadBack file = read_back(path_);
      EXPECT_GT(file.data_size, room - 3 * 4096) << piece << " " << room;
      EXPECT_EQ(file.data(), as_text(numbered_records(file.data_size / 64).view()));
      EXPECT_NE(file.features & (1u << abi::kFeatureHostname), 0u);
    }
  }
}

TEST_F(WriterTest, FullDiskNeverCutsATraceInTwo) {
  for (size_t room : {20'000u, 50'000u, 73'001u}) {
    SmallDisk disk(room);
    auto writer = PerfDataWriter::create(path_, {.sys = &disk});
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->begin({clock_event()}, {}));
    ByteBuilder all;
    Features features = named();
    for (int i = 0; i < 40; ++i) {
      uint64_t at = kFileHeaderSize + 2 * 8 + 144 + all.size();
      features.auxtrace_index.push_back({at, 48});
      // The trace looks like records, of another size.
      ByteBuilder trace = numbered_records(50);
      AuxtraceRecord told{};
      told.size = trace.size();
      encode(told, all);
      all.bytes(trace.view());
    }
    mark_present(features);
    EXPECT_FALSE(writer->main().write(all.view()) && writer->main().flush());
    EXPECT_FALSE(writer->finish(features));
    ReadBack file = read_back(path_);
    EXPECT_EQ(file.data_size % (48 + 50 * 64), 0u);
    EXPECT_GT(file.data_size, 3200u);
    EXPECT_GT(file.data_size + 3 * 4096 + 3248, room);
  }
}

TEST_F(WriterTest, FullDiskLeavesOutWhatIsDispensableFirst) {
  ByteBuilder records = numbered_records(1000);
  SmallDisk disk(records.size() + 3000);
  auto writer = PerfDataWriter::create(path_, {.sys = &disk});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->begin({clock_event()}, {}));
  ASSERT_TRUE(writer->main().write(records.view()));
  Features features = named();
  features.caches.assign(2000, {});
  mark_present(features);
  EXPECT_FALSE(writer->finish(features)) << "something is missing, so the user must know";
  ReadBack file = read_back(path_);
  EXPECT_EQ(file.data_size, records.size());
  EXPECT_NE(file.features & (1u << abi::kFeatureHostname), 0u);
}

/// The whole part before the records fits, or nothing is there.
TEST_F(WriterTest, DiskWithoutRoomForTheBeginningLeavesAnEmptyFile) {
  SmallDisk disk(60);
  auto writer = PerfDataWriter::create(path_, {.sys = &disk});
  ASSERT_TRUE(writer);
  EXPECT_FALSE(writer->begin({clock_event()}, {}));
  EXPECT_FALSE(writer->finish(named()));
  EXPECT_EQ(std::filesystem::file_size(path_), 0u);
}

TEST(MarkPresent, NamesWhatHasContent) {
  Features features;
  features.hostname = "x";
  features.numa = {{0, 1, 1, "0"}};
  mark_present(features);
  EXPECT_EQ(features.present, (std::vector<uint32_t>{abi::kFeatureHostname, abi::kFeatureEventDesc,
                                                     abi::kFeatureNumaTopology}));
}

}  // namespace
}  // namespace sonde
