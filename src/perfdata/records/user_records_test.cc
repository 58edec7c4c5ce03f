// Law 4 for the recorder's own records.
#include "perfdata/records/user_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using testing::ElementsAre;

constexpr ByteOrder kEitherOrder[] = {ByteOrder::kLittle, ByteOrder::kBig};

RecordView only_user_record(const ByteBuilder& bytes) {
  RecordBlock block;
  block.bytes = bytes.view();
  RecordRange range(block, bytes.order());
  RecordView record;
  EXPECT_TRUE(range.next(record));
  EXPECT_EQ(range.stopped_at(), bytes.size());
  return record;
}

template <typename Record, typename Check>
void user_round_trip(const Record& record, uint32_t type, Check check) {
  for (ByteOrder order : kEitherOrder) {
    ByteBuilder out(order);
    ASSERT_TRUE(encode(record, out));
    EXPECT_EQ(out.size() % 8, 0u);
    RecordView view = only_user_record(out);
    EXPECT_EQ(view.type, type);
    auto decoded = decode_user<Record>(view);
    ASSERT_TRUE(decoded);
    check(*decoded);
    // Every shorter record is rejected or read as something shorter, never past its end.
    for (size_t cut = 0; cut < view.payload.size(); ++cut) {
      RecordView shorter = view;
      shorter.payload = view.payload.first(cut);
      (void)decode_user<Record>(shorter);
    }
  }
}

WordView words(ByteBuilder& store, std::initializer_list<uint64_t> values) {
  for (uint64_t value : values) store.u64(value);
  return {store.view(), store.order()};
}
std::vector<uint64_t> values(WordView view) {
  std::vector<uint64_t> out;
  for (size_t i = 0; i < view.size(); ++i) out.push_back(view[i]);
  return out;
}

TEST(UserRecords, Attr) {
  HeaderAttrRecord record;
  record.attr.type = 1;
  record.attr.size = 128;
  record.attr.sample_type = 0x10087;
  record.attr.freq = 1;
  ByteBuilder store;
  record.ids = words(store, {7, 8, 9});
  user_round_trip(record, abi::kRecordHeaderAttr, [&](const HeaderAttrRecord& d) {
    EXPECT_EQ(d.attr, record.attr);
    EXPECT_THAT(values(d.ids), ElementsAre(7, 8, 9));
  });
}

TEST(UserRecords, NamesAndSizes) {
  user_round_trip(EventTypeRecord{4, "sched:sched_switch"}, abi::kRecordHeaderEventType,
                  [](const EventTypeRecord& d) {
                    EXPECT_EQ(d.id, 4u);
                    EXPECT_EQ(d.name, "sched:sched_switch");
                  });
  user_round_trip(TracingDataRecord{4096}, abi::kRecordHeaderTracingData,
                  [](const TracingDataRecord& d) { EXPECT_EQ(d.size, 4096u); });
  user_round_trip(HeaderFeatureRecord{3, as_bytes("12345678")}, abi::kRecordHeaderFeature,
                  [](const HeaderFeatureRecord& d) {
                    EXPECT_EQ(d.feature, 3u);
                    EXPECT_EQ(as_text(d.content), "12345678");
                  });
}

TEST(UserRecords, IdIndexWithAndWithoutGuests) {
  ByteBuilder entries, guests;
  IdIndexRecord record{words(entries, {1, 2, 3, 4, 5, 6, 7, 8}), {}};
  user_round_trip(record, abi::kRecordIdIndex, [](const IdIndexRecord& d) {
    ASSERT_EQ(d.size(), 2u);
    EXPECT_EQ(d.entry(1).id, 5u);
    EXPECT_EQ(d.entry(1).tid, 8u);
    EXPECT_FALSE(d.guest(0));
  });
  record.guests = words(guests, {10, 11, 12, 13});
  user_round_trip(record, abi::kRecordIdIndex, [](const IdIndexRecord& d) {
    ASSERT_TRUE(d.guest(1));
    EXPECT_EQ(d.guest(1)->machine_pid, 12u);
    EXPECT_EQ(d.guest(1)->vcpu, 13u);
  });
}

TEST(UserRecords, Auxtrace) {
  ByteBuilder store;
  user_round_trip(AuxtraceInfoRecord{1, words(store, {5, 6})}, abi::kRecordAuxtraceInfo,
                  [](const AuxtraceInfoRecord& d) {
                    EXPECT_EQ(d.type, 1u);
                    EXPECT_THAT(values(d.priv), ElementsAre(5, 6));
                  });
  user_round_trip(AuxtraceRecord{1, 2, 3, 4, 5, 6}, abi::kRecordAuxtrace,
                  [](const AuxtraceRecord& d) {
                    EXPECT_EQ(d.size, 1u);
                    EXPECT_EQ(d.offset, 2u);
                    EXPECT_EQ(d.reference, 3u);
                    EXPECT_EQ(d.index, 4u);
                    EXPECT_EQ(d.tid, 5u);
                    EXPECT_EQ(d.cpu, 6u);
                  });
  // Every format, with the time and guest that it supports.
  for (const AuxtraceErrorRecord& error :
       {AuxtraceErrorRecord{1, 2, 3, 4, 5, 0, 7, 0, "trace data was lost"},
        AuxtraceErrorRecord{1, 2, 3, 4, 5, 1, 7, 8, "trace data was lost"},
        AuxtraceErrorRecord{1, 2, 3, 4, 5, 2, 7, 8, "trace data was lost", 9, 10}})
    user_round_trip(error, abi::kRecordAuxtraceError, [&](const AuxtraceErrorRecord& d) {
      EXPECT_EQ(d.format, error.format);
      EXPECT_EQ(d.code, error.code);
      EXPECT_EQ(d.tid, error.tid);
      EXPECT_EQ(d.ip, error.ip);
      EXPECT_EQ(d.time, error.time);
      EXPECT_EQ(d.message, error.message);
      EXPECT_EQ(d.machine_pid, error.machine_pid);
      EXPECT_EQ(d.vcpu, error.vcpu);
    });
}

TEST(UserRecords, MapsOfThreadsAndCpus) {
  user_round_trip(ThreadMapRecord{{{7, "bash"}, {8, ""}}}, abi::kRecordThreadMap,
                  [](const ThreadMapRecord& d) {
                    ASSERT_EQ(d.threads.size(), 2u);
                    EXPECT_EQ(d.threads[0].tid, 7u);
                    EXPECT_EQ(d.threads[0].comm, "bash");
                    EXPECT_EQ(d.threads[1].comm, "");
                  });
  user_round_trip(CpuMapRecord{{0, 1, 65, -1}}, abi::kRecordCpuMap,
                  [](const CpuMapRecord& d) { EXPECT_THAT(d.cpus, ElementsAre(0, 1, 65, -1)); });
}

TEST(UserRecords, CpuMapsAsMaskAndRange) {
  ByteBuilder mask;
  mask.u16(1);  // mask of one 64-bit word
  mask.u16(1);
  mask.u16(8);
  mask.zeros(4);
  mask.u64(0b1010'0001);
  RecordView record;
  record.payload = mask.view();
  auto decoded = decode_user<CpuMapRecord>(record);
  ASSERT_TRUE(decoded);
  EXPECT_THAT(decoded->cpus, ElementsAre(0, 5, 7));

  ByteBuilder range;
  range.u16(2);
  range.u8(1);
  range.u8(0);
  range.u16(3);
  range.u16(5);
  record.payload = range.view();
  decoded = decode_user<CpuMapRecord>(record);
  ASSERT_TRUE(decoded);
  EXPECT_THAT(decoded->cpus, ElementsAre(-1, 3, 4, 5));
}

TEST(UserRecords, CountsNameACpuByNumberOrByPlace) {
  const std::vector<int> of_tasks{-1}, all{0, 1}, some{2, 3}, own{7};
  EXPECT_EQ(counted_cpu(UINT32_MAX, of_tasks, own), -1);
  EXPECT_EQ(counted_cpu(1, all, {}), 1);
  EXPECT_EQ(counted_cpu(3, some, {}), 3);
  EXPECT_EQ(counted_cpu(7, all, own), 7) << "not in the map";
  EXPECT_EQ(counted_cpu(0, of_tasks, {}), -1) << "perf before 5.18: the first in the map";
  EXPECT_EQ(counted_cpu(1, some, {}), 3) << "perf before 5.18: the second in the map";
  EXPECT_EQ(counted_cpu(9, all, own), std::nullopt);
  EXPECT_EQ(counted_cpu(0, {}, {}), std::nullopt);
}

TEST(UserRecords, StatRecords) {
  ByteBuilder store;
  user_round_trip(
      StatConfigRecord{words(store, {1, 2, 3, 4})}, abi::kRecordStatConfig,
      [](const StatConfigRecord& d) { EXPECT_THAT(values(d.terms), ElementsAre(1, 2, 3, 4)); });
  user_round_trip(StatRecord{1, 2, 3, 4, 5, 6}, abi::kRecordStat, [](const StatRecord& d) {
    EXPECT_EQ(d.id, 1u);
    EXPECT_EQ(d.cpu, 2u);
    EXPECT_EQ(d.thread, 3u);
    EXPECT_EQ(d.value, 4u);
    EXPECT_EQ(d.enabled, 5u);
    EXPECT_EQ(d.running, 6u);
  });
  user_round_trip(StatRoundRecord{1, 2}, abi::kRecordStatRound, [](const StatRoundRecord& d) {
    EXPECT_EQ(d.type, 1u);
    EXPECT_EQ(d.time, 2u);
  });
}

TEST(UserRecords, EventUpdates) {
  for (EventUpdateKind kind : {EventUpdateKind::kUnit, EventUpdateKind::kName})
    user_round_trip(EventUpdateRecord{.kind = kind, .id = 5, .text = "msec", .cpus = {}},
                    abi::kRecordEventUpdate, [&](const EventUpdateRecord& d) {
                      EXPECT_EQ(d.kind, kind);
                      EXPECT_EQ(d.id, 5u);
                      EXPECT_EQ(d.text, "msec");
                    });
  user_round_trip(
      EventUpdateRecord{
          .kind = EventUpdateKind::kScale, .id = 5, .text = {}, .scale = 1e-6, .cpus = {}},
      abi::kRecordEventUpdate, [](const EventUpdateRecord& d) { EXPECT_EQ(d.scale, 1e-6); });
  user_round_trip(
      EventUpdateRecord{.kind = EventUpdateKind::kCpus, .id = 5, .text = {}, .cpus = {{1, 3}}},
      abi::kRecordEventUpdate,
      [](const EventUpdateRecord& d) { EXPECT_THAT(d.cpus.cpus, ElementsAre(1, 3)); });
  ByteBuilder files;
  files.u64(7);
  user_round_trip(EventUpdateRecord{.kind = EventUpdateKind::kInterpretedFiles,
                                    .id = 5,
                                    .text = {},
                                    .cpus = {},
                                    .files = files.view()},
                  abi::kRecordEventUpdate,
                  [](const EventUpdateRecord& d) { EXPECT_EQ(d.files.size(), 8u); });
}

TEST(UserRecords, TimeConvOfBothLengths) {
  for (bool cycles : {false, true}) {
    TimeConvRecord record{1, 2, 3, cycles, 0, 0, 0, 0};
    if (cycles) record = {1, 2, 3, true, 4, 5, 1, 1};
    user_round_trip(record, abi::kRecordTimeConv, [&](const TimeConvRecord& d) {
      EXPECT_EQ(d.shift, 1u);
      EXPECT_EQ(d.multiplier, 2u);
      EXPECT_EQ(d.zero, 3u);
      EXPECT_EQ(d.has_cycles, cycles);
      EXPECT_EQ(d.cycles, record.cycles);
      EXPECT_EQ(d.mask, record.mask);
      EXPECT_EQ(d.cap_user_time_short, record.cap_user_time_short);
    });
  }
}

TEST(UserRecords, BpfMetadata) {
  user_round_trip(BpfMetadataRecord{"prog", {{"key", "value"}, {"k2", ""}}},
                  abi::kRecordBpfMetadata, [](const BpfMetadataRecord& d) {
                    EXPECT_EQ(d.program, "prog");
                    ASSERT_EQ(d.entries.size(), 2u);
                    EXPECT_EQ(d.entries[0].first, "key");
                    EXPECT_EQ(d.entries[0].second, "value");
                  });
}

TEST(UserRecords, BuildIdsKeepTheirLength) {
  for (ByteOrder order : kEitherOrder)
    for (std::string id : {std::string(20, 'a'), std::string(16, 'b'), std::string(8, 'c')}) {
      BuildIdEntry entry{abi::kMiscUser, -1, id, "/usr/bin/true", {}};
      ByteBuilder out(order);
      ASSERT_TRUE(encode(entry, abi::kRecordHeaderBuildId, out));
      auto decoded = decode_build_id(only_user_record(out));
      ASSERT_TRUE(decoded);
      EXPECT_EQ(decoded->misc, entry.misc);
      EXPECT_EQ(decoded->pid, entry.pid);
      EXPECT_EQ(decoded->build_id, entry.build_id);
      EXPECT_EQ(decoded->path, entry.path);
    }
}

TEST(UserRecords, BuildIdsTellFilesOfOnePathApart) {
  for (ByteOrder order : kEitherOrder) {
    BuildIdEntry entry{abi::kMiscUser, -1, std::string(20, 'a'), "/app/server", {8, 1, 4711}};
    ByteBuilder out(order);
    ASSERT_TRUE(encode(entry, abi::kRecordHeaderBuildId, out));
    auto decoded = decode_build_id(only_user_record(out));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->path, entry.path);
    EXPECT_EQ(decoded->file, entry.file);
  }
}

}  // namespace
}  // namespace sonde
