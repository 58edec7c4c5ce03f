#include "replay/passes/sample_pass.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <tuple>

#include "perfdata/records/record_encoder.h"
#include "perfdata/text/file_builder.h"

namespace sonde {
namespace {

constexpr uint32_t kProcesses = 5;

abi::EventAttr attr_of_samples() {
  abi::EventAttr attr;
  attr.type = abi::kTypeSoftware;
  attr.sample_type = abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSamplePeriod |
                     abi::kSampleCallchain;
  attr.sample_id_all = 1;
  return attr;
}

/// Processes that map one library at different addresses, and call chains of few and of many
/// shapes.
class SomeProcesses {
 public:
  SomeProcesses() {
    EventDesc event;
    event.attr = attr_;
    event.ids = {1};
    file.events.push_back(event);
    for (uint32_t pid = 1; pid <= kProcesses; ++pid) map(pid, "/usr/lib/one.so", pid << 24, 0);
  }

  void map(uint32_t pid, std::string_view path, uint64_t start, uint64_t time) {
    MmapRecord record{};
    record.pid = record.tid = pid;
    record.start = RuntimeAddr(start);
    record.length = 0x100000;
    record.path = path;
    record.protection = 5;
    record.is_v2 = true;
    encode(record,
           {.misc = abi::kMiscUser, .attr = &attr_, .id = {.pid = pid, .tid = pid, .time = time}},
           file.data);
  }

  void add_sample(uint64_t time) {
    auto pid = static_cast<uint32_t>(random_() % (kProcesses + 1) + 1);  // the last has no mappings
    ByteBuilder chain;
    chain.u64(abi::kContextUser);
    uint64_t depth = random_() % 20 + 1;
    uint64_t variety = random_() % 3 == 0 ? 0x100000 : 4;
    uint64_t ip = 0;
    for (uint64_t i = 0; i < depth; ++i) {
      uint64_t address = (uint64_t{pid} << 24) + random_() % variety + i * 64;
      if (i == 0) ip = address;
      chain.u64(address);
    }
    Sample sample;
    sample.misc = sample.cpu_mode = abi::kMiscUser;
    sample.id.pid = pid;
    sample.id.tid = pid;
    sample.id.time = time;
    sample.ip = ip;
    sample.period = random_() % 1000;
    sample.callchain = WordView(chain.view(), kHostOrder);
    ASSERT_TRUE(encode_sample(sample, attr_, file.data));
  }

  FileBuilder file;

 private:
  abi::EventAttr attr_ = attr_of_samples();
  std::mt19937 random_{7};
};

void expect_same(const SamplePassResult& a, const SamplePassResult& b) {
  const SampleColumns &x = a.samples, &y = b.samples;
  EXPECT_EQ(x.event, y.event);
  EXPECT_EQ(x.time, y.time);
  EXPECT_EQ(x.pid, y.pid);
  EXPECT_EQ(x.tid, y.tid);
  EXPECT_EQ(x.period, y.period);
  EXPECT_EQ(x.comm, y.comm);
  EXPECT_EQ(x.leaf, y.leaf);
  EXPECT_EQ(a.filtered, b.filtered);
  EXPECT_EQ(a.first_time_ns, b.first_time_ns);
  EXPECT_EQ(a.last_time_ns, b.last_time_ns);

  ASSERT_EQ(a.frames.size(), b.frames.size());
  for (size_t i = 0; i < a.frames.size(); ++i) {
    const Frame &f = a.frames[FrameId(i)], &g = b.frames[FrameId(i)];
    ASSERT_TRUE(f.dso == g.dso && f.address == g.address && f.level == g.level) << i;
  }
  ASSERT_EQ(x.chain.size(), y.chain.size());  // chain ids are local to each slice
  for (size_t i = 0; i < x.chain.size(); ++i)
    ASSERT_TRUE(std::ranges::equal(a.chains[x.chain[i]], b.chains[y.chain[i]])) << i;
}

/// Many samples; halfway through, another library replaces one at its address.
class ManySamples : public testing::Test {
 protected:
  static constexpr uint64_t kSamples = 60000;

  void SetUp() override {
    SomeProcesses input;
    for (uint64_t i = 0; i < kSamples; ++i) {
      input.add_sample(i);
      if (i == kSamples / 2) input.map(2, "/usr/lib/another.so", 2 << 24, i);
    }
    bytes_ = input.file.file();
    auto opened = Recording::open_bytes(bytes_, "test", losses_);
    ASSERT_TRUE(opened.has_value());
    recording_.emplace(std::move(*opened));
    sideband_ = read_sideband(*recording_, machine_, losses_);
  }
  SamplePassResult read(const SamplePassOptions& options, size_t slices) {
    return read_samples(*recording_, machine_, sideband_, options, slices, losses_);
  }

  std::vector<std::byte> bytes_;
  LossLedger losses_;
  std::optional<Recording> recording_;
  StringPool strings_;
  Machine machine_{strings_};
  SidebandResult sideband_;
};

TEST_F(ManySamples, TheNumberOfSlicesDoesNotShow) {
  ASSERT_GE(recording_->blocks().size(), 7u);
  ASSERT_EQ(sideband_.counts.samples, kSamples);
  for (const SampleFilter& filter : {SampleFilter(), SampleFilter{{1, 3}, {}, {}, {}}}) {
    SamplePassOptions options;
    options.filter = filter;
    SamplePassResult whole = read(options, 1);
    EXPECT_GT(whole.chains.size(), 1000u);
    for (size_t slices : {2u, 7u}) {
      SCOPED_TRACE(slices);
      expect_same(read(options, slices), whole);
    }
  }
}

TEST_F(ManySamples, WhatIsNotMappedIsOneFrameIfRequested) {
  SamplePassResult whole = read({}, 1);
  auto same_place = [&](const Frame& merged, const Frame& own) {
    return merged.dso == own.dso && merged.level == own.level &&
           merged.address == (own.dso.valid() ? own.address : 0);
  };
  SamplePassOptions options;
  options.merge_unmapped = true;
  for (size_t slices : {1u, 5u}) {
    SamplePassResult merged = read(options, slices);
    EXPECT_EQ(std::ranges::count(merged.frames.all(), DsoId(), &Frame::dso), 1);
    EXPECT_LT(merged.frames.size(), whole.frames.size());
    ASSERT_EQ(merged.samples.size(), whole.samples.size());
    for (size_t i = 0; i < whole.samples.size(); ++i)
      ASSERT_TRUE(std::ranges::equal(
          merged.chains[merged.samples.chain[i]], whole.chains[whole.samples.chain[i]], same_place,
          [&](FrameId id) { return merged.frames[id]; },
          [&](FrameId id) { return whole.frames[id]; }));
  }
}

/// The samples that a whole pass resolves, one by one, by time.
class BatchedSamples : public ManySamples {
 protected:
  void expect_rows(const SamplePassResult& batch, const SamplePassResult& whole, size_t from) {
    const SampleColumns &x = batch.samples, &y = whole.samples;
    auto same_place = [&](FrameId a, FrameId b) {
      const Frame &f = batch.frames[a], &g = whole.frames[b];
      return f.dso == g.dso && f.address == g.address && f.level == g.level;
    };
    for (size_t i = 0; i < x.size(); ++i) {
      size_t j = from + i;
      ASSERT_EQ(std::tie(x.event[i], x.time[i], x.pid[i], x.tid[i], x.cpu[i]),
                std::tie(y.event[j], y.time[j], y.pid[j], y.tid[j], y.cpu[j]));
      ASSERT_EQ(std::tie(x.period[i], x.weight[i], x.comm[i], x.cpu_mode[i], x.was_copied[i]),
                std::tie(y.period[j], y.weight[j], y.comm[j], y.cpu_mode[j], y.was_copied[j]));
      ASSERT_TRUE(same_place(x.leaf[i], y.leaf[j]));
      ASSERT_TRUE(
          std::ranges::equal(batch.chains[x.chain[i]], whole.chains[y.chain[j]], same_place));
    }
  }
};

TEST_F(BatchedSamples, AreThoseOfAWholePass) {
  for (const SampleFilter& filter : {SampleFilter(), SampleFilter{{1, 3}, {}, {}, {}}}) {
    SamplePassOptions options;
    options.filter = filter;
    SamplePassResult whole = read(options, 1);
    for (size_t slices : {1u, 2u, 5u}) {
      SCOPED_TRACE(slices);
      TimeBatches order(*recording_, sideband_, {2, 7000});
      SamplePassResult result;
      SampleBatches batches(*recording_, machine_, sideband_, options, slices, losses_, result);
      size_t rows = 0;
      while (!order.at_end()) {
        batches.read(order.next());
        expect_rows(result, whole, rows);
        rows += result.samples.size();
      }
      batches.finish();
      EXPECT_EQ(rows, whole.samples.size());
      EXPECT_EQ(result.frames.size(), whole.frames.size());
      EXPECT_EQ(result.filtered, whole.filtered);
      EXPECT_EQ(result.first_time_ns, whole.first_time_ns);
      EXPECT_EQ(result.last_time_ns, whole.last_time_ns);
    }
  }
}

TEST_F(BatchedSamples, AreTheSameAfterFramesWereForgotten) {
  SamplePassOptions options;
  SamplePassResult whole = read(options, 1);
  TimeBatches order(*recording_, sideband_, {2, 7000});
  SamplePassResult result;
  SampleBatches batches(*recording_, machine_, sideband_, options, 2, losses_, result);
  for (size_t rows = 0; !order.at_end(); rows += result.samples.size()) {
    batches.forget_frames();
    batches.read(order.next());
    expect_rows(result, whole, rows);
    EXPECT_LT(result.frames.size(), whole.frames.size());
  }
}

TEST_F(ManySamples, CountsByPlaceAreThoseOfTheSamples) {
  SamplePassOptions options;
  options.chains.reset();
  options.detail = SampleDetail::kSums;
  SamplePassResult each = read(options, 1);
  std::vector<uint64_t> samples(each.frames.size()), periods(each.frames.size());
  for (size_t i = 0; i < each.samples.size(); ++i) {
    ++samples[each.samples.leaf[i].index()];
    periods[each.samples.leaf[i].index()] += each.samples.period[i];
  }
  options.detail = SampleDetail::kPlaces;
  for (size_t slices : {1u, 2u, 5u}) {
    SamplePassResult counted = read(options, slices);
    ASSERT_EQ(counted.frames.size(), each.frames.size());
    ASSERT_EQ(counted.samples.size(), each.frames.size());
    EXPECT_EQ(counted.first_time_ns, each.first_time_ns);
    EXPECT_EQ(counted.last_time_ns, each.last_time_ns);
    for (size_t i = 0; i < counted.samples.size(); ++i) {
      ASSERT_EQ(counted.samples.leaf[i], FrameId(i));
      EXPECT_EQ(counted.samples.event[i], 0u);
      EXPECT_EQ(counted.samples.count_of(i), samples[i]);
      EXPECT_EQ(counted.samples.period[i], periods[i]);
    }
  }
}

TEST_F(ManySamples, CountsOfTappedSamplesAreTheSame) {
  SamplePassOptions options;
  options.chains.reset();
  options.detail = SampleDetail::kPlaces;
  auto counts_of = [](const SamplePassResult& result) {
    std::map<std::tuple<uint32_t, uint64_t, FrameLevel>, std::pair<uint64_t, uint64_t>> counts;
    for (size_t i = 0; i < result.samples.size(); ++i) {
      const Frame& frame = result.frames[result.samples.leaf[i]];
      auto& [samples, period] = counts[{frame.dso.value, frame.address, frame.level}];
      samples += result.samples.count_of(i);
      period += result.samples.period[i];
    }
    return counts;
  };
  SamplePassResult counted = read(options, 1);
  std::string path = testing::TempDir() + "tapped-" + std::to_string(::getpid()) + ".data";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes_.data()), static_cast<ssize_t>(bytes_.size()));
  for (size_t most_chunks : {DeferredSamples::kMaxChunks, size_t{3}}) {
    DeferredSamples deferred(most_chunks);
    auto recording = Recording::open(path, {.observer = &deferred}, losses_);
    ASSERT_TRUE(recording) << recording.error().message;
    bool has_all = std::ranges::all_of(recording->blocks(), &RecordBlock::samples_taken);
    EXPECT_EQ(has_all, most_chunks == DeferredSamples::kMaxChunks);
    EXPECT_TRUE(recording->blocks()[0].samples_taken);
    StringPool strings;
    Machine machine(strings);
    SidebandResult sideband = read_sideband(*recording, machine, losses_);
    EXPECT_EQ(sideband.counts.samples, kSamples);
    options.deferred = &deferred;
    for (size_t slices : {1u, 2u, 5u}) {
      SamplePassResult result =
          read_samples(*recording, machine, sideband, options, slices, losses_);
      EXPECT_EQ(counts_of(result), counts_of(counted));
      EXPECT_EQ(result.first_time_ns, counted.first_time_ns);
      EXPECT_EQ(result.last_time_ns, counted.last_time_ns);
    }
  }
  EXPECT_EQ(losses_.total(), 0u);
  std::filesystem::remove(path);
}

TEST(SamplePass, OnePlaceOfALibraryIsOneFrameInAllProcesses) {
  SomeProcesses input;
  for (uint64_t i = 0; i < 1000; ++i) input.add_sample(i);
  std::vector<std::byte> bytes = input.file.file();
  LossLedger losses;
  auto recording = Recording::open_bytes(bytes, "test", losses);
  ASSERT_TRUE(recording.has_value());
  StringPool strings;
  Machine machine(strings);
  SidebandResult sideband = read_sideband(*recording, machine, losses);
  SamplePassResult result = read_samples(*recording, machine, sideband, {}, 1, losses);

  ASSERT_EQ(result.samples.size(), 1000u);
  for (size_t i = 0; i < result.samples.size(); ++i) {
    Sample sample;
    RecordRef at = result.samples.record[i];
    RecordBlock block = recording->blocks()[at.block];
    block.bytes = block.bytes.subspan(at.offset);
    RecordView record;
    ASSERT_TRUE(RecordRange(block, kHostOrder).next(record));
    ASSERT_TRUE(decode_sample(record, recording->events()[EventId(size_t{0})].layout, sample));
    const Frame& leaf = result.frames[result.samples.leaf[i]];
    EXPECT_EQ(leaf.level, FrameLevel::kUser);
    if (sample.id.pid > kProcesses) {
      EXPECT_FALSE(leaf.dso.valid());
      EXPECT_EQ(leaf.address, sample.ip);
    } else {
      EXPECT_EQ(leaf.address, sample.ip - (uint64_t{sample.id.pid} << 24));
    }
    std::span<const FrameId> chain = result.chains[result.samples.chain[i]];
    ASSERT_EQ(chain.size(), sample.callchain.size() - 1);  // without the marker
    EXPECT_EQ(chain[0], result.samples.leaf[i]);
    for (size_t j = 0; j < chain.size(); ++j)
      EXPECT_EQ(result.frames[chain[j]].address,
                sample.callchain[j + 1] - (leaf.dso.valid() ? uint64_t{sample.id.pid} << 24 : 0));
  }
}

}  // namespace
}  // namespace sonde
