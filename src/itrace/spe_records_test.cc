#include "itrace/spe_records.h"

#include <gtest/gtest.h>

namespace sonde::itrace {
namespace {

using Operation = SpeRecord::Operation;

class SpeRecords : public testing::Test {
 public:
  SpeRecords& packet(uint8_t header, uint64_t value, size_t size) {
    data_.u8(header);
    for (size_t i = 0; i < size; ++i) data_.u8(static_cast<uint8_t>(value >> 8 * i));
    return *this;
  }
  SpeRecords& byte(uint8_t value) {
    data_.u8(value);
    return *this;
  }
  std::vector<SpeRecord> records() {
    SpeReader reader(data_.view());
    std::vector<SpeRecord> all;
    for (SpeRecord record; reader.next(record);) all.push_back(record);
    bad_bytes_ = reader.bad_bytes();
    return all;
  }
  ByteBuilder data_;
  uint64_t bad_bytes_ = 0;
};

TEST_F(SpeRecords, ALoadTellsWhatItAccessed) {
  packet(0xb0, 0x401000 | uint64_t{1} << 63, 8).packet(0x98, 0x3078, 2).packet(0x9a, 7, 2);
  packet(0x52, 0x1e, 2).packet(0x49, 0, 1).packet(0xb2, 0xab00'7ffe'1234'5678, 8);
  packet(0xb3, uint64_t{1} << 63 | 0x881234, 8).packet(0x43, 9, 1).packet(0x64, 10, 4);
  packet(0x71, 5000, 8).byte(0).byte(0);
  std::vector<SpeRecord> all = records();
  ASSERT_EQ(all.size(), 1u);
  const SpeRecord& load = all[0];
  EXPECT_EQ(load.ip, 0x401000u);
  EXPECT_EQ(load.latency, 0x78);  // twelve bits
  EXPECT_EQ(load.events, 0x1eu);
  EXPECT_EQ(load.operation, Operation::kLoad);
  EXPECT_EQ(load.virtual_address, 0x7ffe12345678u);  // the tag is left out
  EXPECT_EQ(load.physical_address, 0x881234u);
  EXPECT_EQ(load.source, 9);
  EXPECT_EQ(load.context, 10u);
  EXPECT_EQ(load.time, 5000u);
}

TEST_F(SpeRecords, KernelAddressesAreThoseOfItsExceptionLevel) {
  uint64_t kernel = 0x00ff'ffff'8100'0000;
  packet(0xb0, kernel | uint64_t{1} << 61 | uint64_t{1} << 63, 8);
  packet(0xb1, kernel | uint64_t{1} << 61, 8);  // secure
  packet(0xb2, 0x00ff'0000'1234'5678, 8).packet(0x4a, 1, 1).byte(0x01);
  std::vector<SpeRecord> all = records();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].ip, 0xffffffff81000000u);
  EXPECT_EQ(all[0].target, kernel);
  EXPECT_EQ(all[0].virtual_address, 0xffff000012345678u);
  EXPECT_EQ(all[0].operation, Operation::kBranch);
  EXPECT_FALSE(all[0].time);
}

TEST_F(SpeRecords, WhatIsNoPacketIsSkippedAndWhatIsCutOffEnds) {
  byte(0xff).packet(0x49, 1, 1).byte(0x01).packet(0xb0, 1, 3);
  std::vector<SpeRecord> all = records();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].operation, Operation::kStore);
  EXPECT_EQ(bad_bytes_, 5u);
}

TEST_F(SpeRecords, ExtendedHeadersHaveMoreIndexes) {
  byte(0x20).packet(0xb0, 0x401000 | uint64_t{1} << 63, 8);  // index 0 all the same
  byte(0x21).packet(0x98, 99, 2);                            // counter 8
  byte(0x22).byte(0);                                        // up to a multiple of eight
  while (data_.size() % 8 != 0) byte(0xff);
  packet(0x49, 0, 1).byte(0x01);
  std::vector<SpeRecord> all = records();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].ip, 0x401000u);
  EXPECT_EQ(all[0].latency, 0);
  EXPECT_EQ(all[0].operation, Operation::kLoad);
  EXPECT_EQ(bad_bytes_, 0u);
}

TEST(SpeDataSource, EventsTellTheLevelUnlessTheProcessorTellsTheSource) {
  constexpr uint64_t kCortexA53 = 0x410fd030, kNeoverseN1 = 0x410fd0c0;
  SpeRecord record;
  record.operation = Operation::kLoad;
  record.events = SpeRecord::kL1Access | SpeRecord::kL1Refill | SpeRecord::kTlbAccess;
  EXPECT_EQ(spe_data_source(record, kCortexA53), 0x88000182u);  // LOAD, L1 miss, walker hit
  record.events = SpeRecord::kLastLevelAccess | SpeRecord::kRemoteAccess;
  EXPECT_EQ(spe_data_source(record, kCortexA53), 0x2000000842u);
  record.source = 0xe;
  EXPECT_EQ(spe_data_source(record, kNeoverseN1), 0x1a00101042u);  // local RAM
  record.operation = Operation::kStore;
  EXPECT_EQ(spe_data_source(record, kNeoverseN1), 0x1e00080024u);
  record.operation = Operation::kBranch;
  EXPECT_EQ(spe_data_source(record, kNeoverseN1), 0u);
}

}  // namespace
}  // namespace sonde::itrace
