#include "perfdata/read/lost_tally.h"

#include <gtest/gtest.h>

#include <cstring>

#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

constexpr uint64_t kSampler = 7, kOther = 8, kDummy = 9;

abi::EventAttr sampler(bool counts_losses) {
  abi::EventAttr attr{};
  attr.size = sizeof attr;
  attr.type = abi::kTypeTracepoint;
  attr.sample_period = 1;
  attr.sample_type = abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSampleIdentifier;
  attr.sample_id_all = 1;
  attr.read_format = abi::kFormatId | (counts_losses ? uint64_t{abi::kFormatLost} : 0);
  return attr;
}

abi::EventAttr dummy(bool counts_losses) {
  abi::EventAttr attr = sampler(counts_losses);
  attr.type = abi::kTypeSoftware;
  attr.config = abi::kSwDummy;
  attr.mmap = attr.comm = attr.task = 1;
  return attr;
}

/// Two samplers and a dummy, and what is told of them.
class Losses {
 public:
  explicit Losses(bool counts_losses, bool is_sideband_apart = true) {
    add(sampler(counts_losses), kSampler);
    add(sampler(counts_losses), kOther);
    add(dummy(counts_losses), kDummy);
    if (!is_sideband_apart) events_.edit(EventId(size_t{0})).attr.mmap = 1;
  }

  Losses& ring(uint64_t count) {
    ByteBuilder bytes;
    encode(LostRecord{kSampler, count}, frame(kSampler, 1000), bytes);
    return take(bytes);
  }
  Losses& samples(uint64_t id, uint64_t count, uint64_t time_ns = 0, uint16_t misc = 0) {
    ByteBuilder bytes;
    RecordFrame made = frame(id, time_ns);
    made.misc = misc;
    encode(LostSamplesRecord{count}, made, bytes);
    return take(bytes);
  }
  [[nodiscard]] LostCounts counts() const { return tally_.counts(events_); }
  [[nodiscard]] const LostTally& tally() const { return tally_; }
  [[nodiscard]] const EventTable& events() const { return events_; }

 private:
  void add(const abi::EventAttr& attr, uint64_t id) {
    EventDesc event;
    event.attr = attr;
    event.layout = SampleLayout(attr);
    EventId added = events_.add(std::move(event));
    events_.bind_ids(added, {id});
  }
  [[nodiscard]] RecordFrame frame(uint64_t id, uint64_t time_ns) const {
    SampleId who = kSynthesisedId;
    who.id = id;
    who.time = time_ns;
    return {.attr = &events_[EventId(size_t{0})].attr, .id = who};
  }
  Losses& take(const ByteBuilder& bytes) {
    abi::RecordHeader header;
    std::memcpy(&header, bytes.view().data(), sizeof header);
    RecordView record{
        .type = header.type, .misc = header.misc, .payload = bytes.view().subspan(sizeof header)};
    tally_.add(record, events_.of(record), events_);
    return *this;
  }

  EventTable events_;
  LostTally tally_;
};

void expect(const LostCounts& lost, uint64_t samples, uint64_t maybe, uint64_t others) {
  EXPECT_EQ(lost.samples, samples);
  EXPECT_EQ(lost.maybe, maybe);
  EXPECT_EQ(lost.others, others);
}

TEST(LostTally, CountsOfEventsAndRingsAreTheSameEvents) {
  LostCounts lost =
      Losses(true).ring(60).ring(30).samples(kSampler, 70).samples(kOther, 30).counts();
  expect(lost, 100, 0, 0);
  EXPECT_FALSE(lost.is_bound());
  EXPECT_EQ(lost.by_event, (std::vector<uint64_t>{70, 30, 0}));
}

TEST(LostTally, WhatADummyLostIsNoSample) {
  expect(Losses(true).ring(90).samples(kSampler, 70).samples(kDummy, 30).counts(), 70, 0, 30);
}

TEST(LostTally, WhatRingsLostBeyondTheCountsIsNoSample) {
  expect(Losses(true).ring(90).samples(kSampler, 70).counts(), 70, 0, 20);
}

TEST(LostTally, WithoutCountsAnyRecordMayHaveBeenASample) {
  for (bool counts_losses : {false, true}) {  // an old kernel; a recorder that was killed
    LostCounts lost = Losses(counts_losses).ring(60).ring(30).counts();
    expect(lost, 0, 90, 0);
    EXPECT_TRUE(lost.is_bound());
    EXPECT_EQ(lost.most_samples(), 90u);
  }
}

TEST(LostTally, SamplesThatTheProcessorDroppedReachedNoRing) {
  LostCounts lost = Losses(true).ring(50).samples(kSampler, 5, 2000).samples(kSampler, 60).counts();
  expect(lost, 65, 0, 0);
  EXPECT_EQ(lost.by_hardware, 5u);
  EXPECT_EQ(lost.in_rings(), 60u);
  // Without counts, every LOST_SAMPLES record is the kernel's.
  expect(Losses(false).ring(50).samples(kSampler, 5).counts(), 5, 50, 0);
}

TEST(LostTally, WhatAFilterDroppedIsNoLoss) {
  expect(Losses(true).samples(kSampler, 40, 0, 1u << 15).counts(), 0, 0, 0);
}

TEST(LostTally, AnEventThatTellsOfTasksAsWellGivesABound) {
  LostCounts lost = Losses(true, false).samples(kSampler, 70).counts();
  expect(lost, 70, 0, 0);
  EXPECT_TRUE(lost.is_bound());
  EXPECT_FALSE(Losses(true, false).samples(kOther, 70).counts().is_bound());
}

TEST(LostTally, PiecesOfAStreamAreOneSum) {
  Losses first(true), second(true);
  first.ring(90);
  second.ring(5).samples(kSampler, 100);
  LossLedger losses;
  LostTally all = first.tally();
  LostCounts before = all.counts(first.events());
  count_losses(before, losses);
  all.add(second.tally());
  count_losses(all.counts(first.events()), losses, before);
  EXPECT_EQ(losses.count(LossKind::k_lost_by_kernel), 100u);
  EXPECT_EQ(losses.count(LossKind::k_lost_samples), 0u);
}

}  // namespace
}  // namespace sonde
