// What record_encoder_test.cc (round trips) does not cover: layouts, defaults, damage.
#include "perfdata/records/sample.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

constexpr ByteOrder kBothOrders[] = {ByteOrder::kLittle, ByteOrder::kBig};

RecordView sample_record(const ByteBuilder& payload) {
  RecordView view;
  view.type = abi::kRecordSample;
  view.payload = payload.view();
  view.order = payload.order();
  return view;
}

abi::EventAttr attr_with(uint64_t sample_type) {
  abi::EventAttr attr;
  attr.sample_type = sample_type;
  attr.sample_period = 4000;
  attr.sample_id_all = 1;
  return attr;
}

TEST(SampleLayout, PlacesOfIds) {
  SampleLayout identifier(attr_with(abi::kSampleIdentifier | abi::kSampleIp | abi::kSampleTid));
  EXPECT_EQ(identifier.id_in_sample(), 0u);
  EXPECT_EQ(identifier.id_from_end(), 8u);
  EXPECT_EQ(identifier.sample_id_size(), 16u);
  SampleLayout id(attr_with(abi::kSampleIp | abi::kSampleTime | abi::kSampleId | abi::kSampleCpu));
  EXPECT_EQ(id.id_in_sample(), 16u);
  EXPECT_EQ(id.id_from_end(), 16u);
  SampleLayout none(attr_with(abi::kSampleIp));
  EXPECT_FALSE(none.id_in_sample());
  EXPECT_FALSE(none.id_from_end());
}

TEST(DecodeSample, FieldsThatWereNotAskedForHaveDefaults) {
  SampleLayout layout(attr_with(abi::kSampleIp));
  for (ByteOrder order : kBothOrders) {
    ByteBuilder payload(order);
    payload.u64(0x1234);
    Sample sample;
    sample.weight = 7;
    sample.raw = as_bytes("left over");
    sample.id.cpu = 3;
    ASSERT_TRUE(decode_sample(sample_record(payload), layout, sample));
    EXPECT_EQ(sample.ip, 0x1234u);
    EXPECT_EQ(sample.period, 4000u);
    EXPECT_EQ(sample.weight, 0u);
    EXPECT_TRUE(sample.raw.empty());
    EXPECT_FALSE(sample.id.has_cpu());
    EXPECT_FALSE(sample.id.has_time());
    EXPECT_FALSE(sample.read.present);
  }
}

/// Every proper prefix of a sample with all variable parts is rejected.
TEST(DecodeSample, CutSamplesAreRefused) {
  abi::EventAttr attr = attr_with(abi::kSampleIp | abi::kSampleRead | abi::kSampleCallchain |
                                  abi::kSampleRaw | abi::kSampleBranchStack | abi::kSampleRegsUser |
                                  abi::kSampleStackUser | abi::kSampleWeight | abi::kSampleAux);
  attr.read_format = abi::kFormatGroup | abi::kFormatId;
  attr.sample_regs_user = 3;
  SampleLayout layout(attr);
  for (ByteOrder order : kBothOrders) {
    ByteBuilder p(order);
    p.u64(1);                                                      // ip
    for (uint64_t word : {2u, 10u, 100u, 20u, 200u}) p.u64(word);  // group of two
    for (uint64_t word : {1u, 0xabcu}) p.u64(word);                // call chain
    p.u32(4), p.u32(0xdead);                                       // raw
    for (uint64_t word : {1u, 5u, 6u, 0x30u}) p.u64(word);         // branch: 3 cycles
    for (uint64_t word : {2u, 70u, 71u}) p.u64(word);              // user registers
    for (uint64_t word : {16u, 1u, 2u, 9u}) p.u64(word);  // stack: 16 bytes, 9 of them used
    p.u64(42);                                            // weight
    p.u64(8), p.u64(3);                                   // aux
    Sample sample;
    ASSERT_TRUE(decode_sample(sample_record(p), layout, sample));
    EXPECT_EQ(sample.read.at(1).value, 20u);
    EXPECT_EQ(sample.read.at(1).id, 200u);
    EXPECT_EQ(sample.callchain[0], 0xabcu);
    EXPECT_EQ(sample.raw.size(), 4u);
    EXPECT_EQ(sample.regs_user.get(1), 71u);
    EXPECT_FALSE(sample.regs_user.get(2));
    EXPECT_EQ(sample.stack_user.size(), 9u);
    EXPECT_EQ(sample.weight, 42u);
    EXPECT_EQ(sample.aux.size(), 8u);
    for (size_t size = 0; size < p.size(); ++size) {
      RecordView cut = sample_record(p);
      cut.payload = cut.payload.first(size);
      EXPECT_FALSE(decode_sample(cut, layout, sample)) << size;
    }
  }
}

TEST(DecodeSample, HostileCountsAreRefused) {
  for (uint64_t bit : {abi::kSampleCallchain, abi::kSampleBranchStack, abi::kSampleStackUser,
                       abi::kSampleAux, abi::kSampleRead}) {
    abi::EventAttr attr = attr_with(bit);
    attr.read_format = abi::kFormatGroup;
    SampleLayout layout(attr);
    for (uint64_t count : {UINT64_MAX, UINT64_MAX / 8, UINT64_MAX / 8 + 2, UINT64_MAX / 24 + 2}) {
      ByteBuilder payload;
      for (uint64_t word : {count, uint64_t{0}, uint64_t{0}, uint64_t{0}}) payload.u64(word);
      Sample sample;
      EXPECT_FALSE(decode_sample(sample_record(payload), layout, sample));
    }
  }
}

TEST(DecodeSample, NoBranchStackMeansNoHardwareIndexEither) {
  abi::EventAttr attr = attr_with(abi::kSampleBranchStack | abi::kSampleWeight);
  attr.branch_sample_type = abi::kBranchHwIndex;
  SampleLayout layout(attr);
  ByteBuilder without, with;
  for (uint64_t word : {0u, 42u}) without.u64(word);
  for (uint64_t word : {0u, 3u, 42u}) with.u64(word);
  Sample sample;
  ASSERT_TRUE(decode_sample(sample_record(without), layout, sample));
  EXPECT_EQ(sample.weight, 42u);
  ASSERT_TRUE(decode_sample(sample_record(with), layout, sample));
  EXPECT_EQ(sample.branch_hw_index, 3u);
  EXPECT_EQ(sample.weight, 42u);
}

TEST(DecodeSample, BranchFlagsOfBigEndianMachinesAreMirrored) {
  SampleLayout layout(attr_with(abi::kSampleBranchStack));
  ByteBuilder p(ByteOrder::kBig);
  for (uint64_t word : {uint64_t{1}, uint64_t{0x10}, uint64_t{0x20}}) p.u64(word);
  p.u64((uint64_t{1} << 62) | (uint64_t{9} << (64 - 4 - 16)));  // predicted, nine cycles
  Sample sample;
  ASSERT_TRUE(decode_sample(sample_record(p), layout, sample));
  EXPECT_TRUE(sample.branch(0).predicted());
  EXPECT_FALSE(sample.branch(0).mispredicted());
  EXPECT_EQ(sample.branch(0).cycles(), 9u);
}

/// For plain samples and those with more after the call chain, whole and cut at every length.
TEST(DecodeSampleForSums, AgreesWithDecodeSample) {
  constexpr uint64_t kPlain = abi::kSampleIp | abi::kSampleTid | abi::kSampleTime |
                              abi::kSampleAddr | abi::kSamplePeriod | abi::kSampleCallchain;
  Sample sample, of_sums;  // reused, as passes do
  for (uint64_t type : {kPlain | abi::kSampleRaw | abi::kSampleWeight, kPlain}) {
    SampleLayout layout(attr_with(type));
    for (ByteOrder order : kBothOrders) {
      ByteBuilder p(order);
      p.u64(0x1234);
      p.u32(2), p.u32(3);
      for (uint64_t word : {4u, 5u, 6u}) p.u64(word);      // time, addr, period
      for (uint64_t word : {2u, 0xau, 0xbu}) p.u64(word);  // call chain
      if (type != kPlain) {
        p.u32(4), p.u32(0xdead);  // raw
        p.u64(42);                // weight
      }
      for (size_t size = 0; size <= p.size(); ++size) {
        RecordView cut = sample_record(p);
        cut.payload = cut.payload.first(size);
        bool is_whole = decode_sample(cut, layout, sample);
        ASSERT_EQ(is_whole, size == p.size());
        ASSERT_EQ(decode_sample_for_sums(cut, layout, of_sums), is_whole) << size;
      }
      EXPECT_EQ(of_sums.ip, 0x1234u);
      EXPECT_EQ(of_sums.id.pid, 2u);
      EXPECT_EQ(of_sums.id.time, 4u);
      EXPECT_EQ(of_sums.addr, 5u);
      EXPECT_EQ(of_sums.period, 6u);
      EXPECT_EQ(of_sums.weight, sample.weight);
      EXPECT_EQ(of_sums.cpu_mode, sample.cpu_mode);
    }
  }
}

TEST(DecodeSampleId, AgreesWithDecodeSample) {
  abi::EventAttr attr =
      attr_with(abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSampleAddr |
                abi::kSampleId | abi::kSampleStreamId | abi::kSampleCpu | abi::kSamplePeriod);
  SampleLayout layout(attr);
  for (ByteOrder order : kBothOrders) {
    ByteBuilder p(order);
    p.u64(1);
    p.u32(2), p.u32(3);
    for (uint64_t word : {4u, 5u, 6u, 7u}) p.u64(word);
    p.u32(8), p.u32(0);
    p.u64(9);
    Sample sample;
    SampleId id;
    ASSERT_TRUE(decode_sample(sample_record(p), layout, sample));
    ASSERT_TRUE(decode_sample_id(sample_record(p), layout, id));
    EXPECT_EQ(id.pid, 2u);
    EXPECT_EQ(id.tid, 3u);
    EXPECT_EQ(id.time, 4u);
    EXPECT_EQ(id.id, 6u);
    EXPECT_EQ(id.stream_id, 7u);
    EXPECT_EQ(id.cpu, 8u);
    EXPECT_EQ(sample.id.cpu, 8u);
    EXPECT_EQ(sample.addr, 5u);
    EXPECT_EQ(sample.period, 9u);
  }
}

}  // namespace
}  // namespace sonde
