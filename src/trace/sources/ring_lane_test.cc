#include "trace/sources/ring_lane.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

EventTable one_event() {
  EventDesc event;
  event.attr.sample_type = abi::kSampleTime;
  event.attr.sample_id_all = 1;
  event.layout = SampleLayout(event.attr);
  EventTable table;
  table.add(std::move(event));
  return table;
}

void append(ByteBuilder& out, uint32_t type, uint64_t time) {
  out.u32(type);
  out.u16(0);
  out.u16(16);
  out.u64(time);
}

TEST(RingLane, RecordsComeAsTheyWereWrittenAcrossPiecesAndWraps) {
  EventTable table = one_event();
  ByteBuilder bytes;
  for (uint64_t time : {5U, 7U, 9U}) append(bytes, abi::kRecordSample, time);
  RingLane lane(table);
  Bytes all = bytes.view();
  EXPECT_EQ(lane.front(), nullptr);
  lane.add({all.first(20), all.subspan(20)});  // the ring wraps inside a record
  ByteBuilder later;
  append(later, abi::kRecordSample, 11);
  lane.add({later.view(), {}});
  for (uint64_t time : {5U, 7U, 9U, 11U}) {
    ASSERT_NE(lane.front(), nullptr);
    EXPECT_EQ(lane.front()->time, time);
    lane.pop();
  }
  EXPECT_EQ(lane.front(), nullptr);
}

TEST(RingLane, ARecordWithoutATimeHasThatOfItsPredecessor) {
  EventTable table = one_event();
  ByteBuilder bytes;
  append(bytes, abi::kRecordSample, 5);
  append(bytes, abi::kRecordSample, 0);
  RingLane lane(table);
  lane.add({bytes.view(), {}});
  lane.pop();
  ASSERT_NE(lane.front(), nullptr);
  EXPECT_EQ(lane.front()->time, 5U);
}

}  // namespace
}  // namespace sonde
