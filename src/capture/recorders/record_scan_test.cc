#include "capture/recorders/record_scan.h"

#include <gtest/gtest.h>

#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

abi::EventAttr attr_with(uint64_t sample_type) {
  abi::EventAttr attr;
  attr.sample_type = sample_type;
  attr.sample_id_all = 1;
  return attr;
}
const abi::EventAttr kAttr =
    attr_with(abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSamplePeriod);

void add_sample(uint32_t pid, uint64_t ip, uint64_t time, uint16_t mode, ByteBuilder& out) {
  Sample sample;
  sample.misc = mode;
  sample.ip = ip;
  sample.id.pid = sample.id.tid = pid;
  sample.id.time = time;
  encode_sample(sample, kAttr, out);
}

void add_mapping(uint32_t pid, uint64_t start, std::string_view path, ByteBuilder& out,
                 uint16_t mode = abi::kMiscUser) {
  MmapRecord record{};
  record.pid = record.tid = pid;
  record.start = RuntimeAddr(start);
  record.length = 0x1000;
  record.path = path;
  record.is_v2 = mode == abi::kMiscUser;
  encode(record, RecordFrame{.misc = mode, .attr = &kAttr, .id = kSynthesisedId}, out);
}

std::vector<std::string> paths(const RecordScan& scan) {
  std::vector<std::string> all;
  for (const HitObject& hit : scan.hits()) all.push_back(hit.path);
  return all;
}
using Paths = std::vector<std::string>;

TEST(RecordScan, CountsSamplesAndTheirTimes) {
  RecordScan scan({kAttr}, {});
  ByteBuilder records;
  add_sample(1, 0x1000, 50, abi::kMiscUser, records);
  add_sample(1, 0x1000, 40, abi::kMiscUser, records);
  encode(LostRecord{7, 12}, RecordFrame{.attr = &kAttr, .id = {}}, records);
  scan.piece(records.view());
  EXPECT_EQ(scan.counts().samples, 2u);
  EXPECT_EQ(scan.counts().first_ns, 40u);
  EXPECT_EQ(scan.counts().last_ns, 50u);
  EXPECT_EQ(scan.counts().lost_events, 12u);
}

TEST(RecordScan, CountsTracesThatAreCutOrHaveGaps) {
  RecordScan scan({kAttr}, {});
  ByteBuilder records;
  for (uint64_t flags : {0u, 1u, 2u, 4u, 5u})  // truncated: 1, overwritten: 2, partial: 4
    encode(AuxRecord{0, 4096, flags}, RecordFrame{.attr = &kAttr, .id = {}}, records);
  scan.piece(records.view());
  EXPECT_EQ(scan.counts().lost_aux, 3u);
}

TEST(RecordScan, EveryWrapPointGivesTheSame) {
  ByteBuilder records;
  add_mapping(1, 0x1000, "/bin/a", records);
  add_sample(1, 0x1800, 50, abi::kMiscUser, records);
  add_sample(1, 0x1900, 60, abi::kMiscUser, records);
  for (size_t cut = 8; cut < records.size(); cut += 8) {
    RecordScan scan({kAttr}, {});
    scan.piece(records.view().first(cut), records.view().subspan(cut));
    scan.end_round();
    EXPECT_EQ(scan.counts().samples, 2u) << cut;
    EXPECT_EQ(paths(scan), Paths{"/bin/a"}) << cut;
  }
}

TEST(RecordScan, OnlyObjectsThatWereHit) {
  RecordScan scan({kAttr}, {});
  ByteBuilder records;
  add_mapping(1, 0x1000, "/bin/a", records);
  add_mapping(1, 0x5000, "/bin/b", records);
  add_mapping(UINT32_MAX, 0xffffffff81000000, "[kernel.kallsyms]_text", records, abi::kMiscKernel);
  add_sample(1, 0x5010, 1, abi::kMiscUser, records);
  add_sample(1, 0xffffffff81000010, 2, abi::kMiscKernel, records);
  scan.piece(records.view());
  scan.end_round();
  Paths hit = paths(scan);
  std::sort(hit.begin(), hit.end());
  EXPECT_EQ(hit, (Paths{"/bin/b", "[kernel.kallsyms]"}));
}

TEST(RecordScan, AForkedChildRunsInItsParentsMappings) {
  RecordScan scan({kAttr}, {});
  ByteBuilder records;
  add_mapping(1, 0x1000, "/bin/a", records);
  encode(TaskRecord{.pid = 2, .ppid = 1, .tid = 2, .ptid = 1, .time = 5},
         RecordFrame{.attr = &kAttr, .id = {}}, records);
  add_sample(2, 0x1010, 6, abi::kMiscUser, records);
  scan.piece(records.view());
  scan.end_round();
  EXPECT_EQ(paths(scan), Paths{"/bin/a"});
}

TEST(RecordScan, ATaskThatEndedIsForgottenButNotBeforeItsSamplesAreSeen) {
  RecordScan scan({kAttr}, {});
  ByteBuilder records;
  add_mapping(1, 0x1000, "/bin/a", records);
  encode(TaskRecord{.pid = 1, .ppid = 0, .tid = 1, .ptid = 0, .time = 5},
         RecordFrame{.type = abi::kRecordExit, .attr = &kAttr, .id = {}}, records);
  scan.piece(records.view());
  scan.end_round();
  ByteBuilder late;
  add_sample(1, 0x1010, 4, abi::kMiscUser, late);
  scan.piece(late.view());
  scan.end_round();
  EXPECT_EQ(paths(scan), Paths{"/bin/a"});
}

TEST(RecordScan, DamagedSizesEndTheWalk) {
  RecordScan scan({kAttr}, {});
  ByteBuilder records;
  add_sample(1, 0x1000, 50, abi::kMiscUser, records);
  records.patch<uint16_t>(6, 4);
  scan.piece(records.view());
  EXPECT_EQ(scan.counts().samples, 0u);
}

}  // namespace
}  // namespace sonde
