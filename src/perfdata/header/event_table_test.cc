#include "perfdata/header/event_table.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

EventDesc event(uint64_t sample_type, std::vector<uint64_t> ids) {
  EventDesc desc;
  desc.attr.sample_type = sample_type;
  desc.attr.sample_id_all = 1;
  desc.ids = std::move(ids);
  return desc;
}

struct Record {
  ByteBuilder payload;
  RecordView view;
  Record(uint32_t type, std::initializer_list<uint64_t> words, ByteOrder order = kHostOrder)
      : payload(order) {
    for (uint64_t word : words) payload.u64(word);
    view.type = type;
    view.payload = payload.view();
    view.order = order;
  }
};

TEST(EventTable, FindsTheIdAtItsFixedPlace) {
  EventTable table;
  uint64_t type = abi::kSampleIdentifier | abi::kSampleIp | abi::kSampleTime;
  EventId first = table.add(event(type, {11, 12}));
  // Another event may sample more, as long as the identifier comes first.
  EventId second = table.add(event(type | abi::kSampleCallchain, {13}));
  for (ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    EXPECT_EQ(table.of(Record(abi::kRecordSample, {12, 0, 0}, order).view), first);
    EXPECT_EQ(table.of(Record(abi::kRecordSample, {13, 0, 0}, order).view), second);
    EXPECT_FALSE(table.of(Record(abi::kRecordSample, {99, 0, 0}, order).view).valid());
    // In the id block of other records: time, identifier.
    EXPECT_EQ(table.of(Record(abi::kRecordComm, {1, 2, 5, 13}, order).view), second);
    EXPECT_EQ(table.of(Record(abi::kRecordComm, {1, 2, 5, 0}, order).view), first);
  }
}

TEST(EventTable, IdWithoutIdentifier) {
  EventTable table;
  uint64_t type = abi::kSampleIp | abi::kSampleTid | abi::kSampleId | abi::kSampleCpu;
  table.add(event(type, {1}));
  EventId second = table.add(event(type, {2}));
  EXPECT_EQ(table.of(Record(abi::kRecordSample, {0, 0, 2, 0}).view), second);
  EXPECT_EQ(table.of(Record(abi::kRecordExit, {0, 0, 0, 0, /*tid*/ 0, /*id*/ 2, /*cpu*/ 0}).view),
            second);
}

TEST(EventTable, OneEventNeedsNoId) {
  EventTable table;
  EXPECT_FALSE(table.of(Record(abi::kRecordSample, {}).view).valid());
  EventId only = table.add(event(abi::kSampleIp, {}));
  EXPECT_EQ(table.of(Record(abi::kRecordSample, {77}).view), only);
}

TEST(EventTable, ShortRecordsHaveNoEvent) {
  EventTable table;
  table.add(event(abi::kSampleIdentifier, {1}));
  table.add(event(abi::kSampleIdentifier, {2}));
  EXPECT_FALSE(table.of(Record(abi::kRecordSample, {}).view).valid());
}

TEST(EventTable, IdsThatLieApartCountWhereTheirEventKeepsThem) {
  EventTable table;
  EventId first = table.add(event(abi::kSampleId, {1}));
  EventId second = table.add(event(abi::kSampleIp | abi::kSampleId, {2}));
  EXPECT_EQ(table.of(Record(abi::kRecordSample, {1, 7}).view), first);
  EXPECT_EQ(table.of(Record(abi::kRecordSample, {7, 2}).view), second);
  EXPECT_EQ(table.of(Record(abi::kRecordSample, {2, 7}).view), first);
  EXPECT_EQ(table.of(Record(abi::kRecordSample, {7}).view), first);
  EXPECT_EQ(table.of(Record(abi::kRecordSample, {}).view), first);
}

TEST(EventTable, IdsMayBeAnyNumbers) {
  EventTable table;
  std::vector<uint64_t> ids;
  for (uint64_t i = 1; i <= 10'000; ++i) ids.push_back(i << 40);
  EventId only = table.add(event(abi::kSampleIdentifier, ids));
  EXPECT_EQ(table.by_id(uint64_t{10'000} << 40), only);
  EXPECT_FALSE(table.by_id(uint64_t{10'001} << 40).valid());
}

TEST(EventTable, IdsCanBeBoundLater) {
  EventTable table;
  table.add(event(abi::kSampleIdentifier, {}));
  EventId second = table.add(event(abi::kSampleIdentifier, {}));
  table.bind_ids(second, {5});
  EXPECT_EQ(table.by_id(5), second);
  EXPECT_EQ(table[second].ids, std::vector<uint64_t>{5});
  EXPECT_EQ(table[second].leader, second);
}

}  // namespace
}  // namespace sonde
