#include "objects/guest_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include <fmt/format.h>

#include "base/sys.h"
#include "perfdata/records/user_records.h"
#include "perfdata/text/format.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kHostEvent =
    "event : name = cpu-clock, id = { 11, 12 }, type = 1, sample_id_all = 1, "
    "sample_type = IP|TID|TIME|CPU|IDENTIFIER\n";
constexpr std::string_view kHostTasks =
    "COMM pid=100 tid=100 comm=\"qemu\" id.id=0\n"
    "COMM pid=100 tid=101 comm=\"CPU 0/KVM\" id.id=0\n"
    "COMM pid=100 tid=102 comm=\"CPU 1/TCG\" id.id=0\n"
    "COMM pid=200 tid=201 comm=\"CPU 7/KVM\" id.id=0\n"
    "SAMPLE id=11 pid=100 tid=101 cpu=4 time=2000\n";
constexpr std::string_view kGuestEvent =
    "event : name = dummy, id = { 12, 13 }, type = 1, config = 9, sample_id_all = 1, "
    "sample_type = IP|TID|TIME|CPU|IDENTIFIER\n";
constexpr std::string_view kIndex = "ID_INDEX entries=12,0,0,-1,13,1,1,-1\n";

class GuestRecordingTest : public testing::Test {
 protected:
  ~GuestRecordingTest() override {
    for (const std::string& path : files_) ::unlink(path.c_str());
  }

  std::string write(std::string_view name, std::string text) {
    for (size_t at = 0; (at = text.find(",-1", at)) != std::string::npos;)
      text.replace(at, 3, ",0xffffffffffffffff");
    auto bytes = assemble(text);
    EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
    files_.push_back(fmt::format("{}guest-{}-{}", testing::TempDir(), ::getpid(), name));
    std::ofstream(files_.back())
        .write(reinterpret_cast<const char*>(bytes->data()),
               static_cast<std::streamsize>(bytes->size()));
    return files_.back();
  }

  Result<GuestRecording> open(const std::string& guest, const std::string& host_text) {
    host_.emplace(Recording::open(write("host", host_text), {}, losses_).value());
    return GuestRecording::open({.path = write("guest", guest), .machine_pid = 100}, *host_, false,
                                env_);
  }
  Result<GuestRecording> open(const std::string& guest) {
    return open(guest, std::string(kHostEvent) + std::string(kHostTasks));
  }
  static std::string guest(std::string_view records) {
    return fmt::format("{}{}{}", kGuestEvent, kIndex, records);
  }

  /// "type@time cpu id mode" of each record.
  static std::vector<std::string> said(Bytes records, const GuestRecording& guest) {
    std::vector<std::string> lines;
    RecordBlock block;
    block.bytes = records;
    RecordRange range(block, kHostOrder);
    for (RecordView record; range.next(record);) {
      SampleId id = decode_trailing_id(record, guest.events().front().layout);
      lines.push_back(fmt::format("{}@{} {} {} {}", record.type, id.time,
                                  static_cast<int32_t>(id.cpu), id.id, record.cpu_mode()));
    }
    return lines;
  }

  LossLedger losses_;
  StringSink out_, err_;
  Env env_{.out = out_, .err = err_, .sys = Sys::host(), .losses = losses_};
  std::optional<Recording> host_;
  std::vector<std::string> files_;
};

TEST(GuestDataTest, OptionsSayWhereTheGuestIsAndHowItsTimeDiffers) {
  GuestData data = parse_guest_data("a/b.data,0x10,-5,2.5").value();
  EXPECT_EQ(data.path, "a/b.data");
  EXPECT_EQ(data.machine_pid, 16u);
  EXPECT_EQ(data.time_offset, uint64_t{0} - 5);
  EXPECT_EQ(data.time_scale, 2.5);
  EXPECT_EQ(parse_guest_data("g,1,0xffffe42722c64c41")->time_offset, 0xffffe42722c64c41u);
  for (const char* wrong : {"", "g", ",1", "g,", "g,0", "g,-1", "g,x", "g,1,", "g,1,x", "g,1,2,0",
                            "g,1,2,-1", "g,1,2,nan", "g,1,2,inf", "g,1,2,1x", "g,1,2,3,4"})
    EXPECT_FALSE(parse_guest_data(wrong).has_value()) << wrong;
}

TEST_F(GuestRecordingTest, RecordsAppearAtTheHostsTimesOnTheHostsCpus) {
  auto opened =
      open(guest("COMM pid=1 tid=1 comm=\"init\" id.id=0 id.pid=0 id.tid=0\n"
                 "COMM pid=1 tid=1 comm=\"a\" time=1000 id.id=12 cpu=0\n"
                 "COMM pid=1 tid=1 comm=\"b\" time=3000 id.id=13 cpu=1 mode=user\n"
                 "COMM pid=1 tid=1 comm=\"c\" time=2000 id.id=12 cpu=0 mode=kernel\n"
                 "SAMPLE id=12 pid=1 tid=1 time=1500 cpu=0\n"
                 "CGROUP cgroup=4 path=\"/x\" time=1500 id.id=12 cpu=0\n"));
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  GuestRecording& guest = *opened;
  EXPECT_THAT(said(guest.until(0), guest), ElementsAre("3@0 0 13 4"));
  EXPECT_THAT(said(guest.until(2500), guest), ElementsAre("3@1000 4 13 4", "3@2000 4 13 4"));
  guest.watch({.pid = 100, .tid = 102, .time = 2600, .cpu = 9});
  guest.watch({.pid = 100, .tid = 100, .time = 2600, .cpu = 8});
  EXPECT_THAT(said(guest.until(UINT64_MAX), guest), ElementsAre("3@3000 9 14 5"));
  EXPECT_TRUE(guest.until(UINT64_MAX).empty());
}

TEST_F(GuestRecordingTest, EventsGetIdsThatTheHostDoesNotUse) {
  GuestRecording guest = open(this->guest("")).value();
  ASSERT_EQ(guest.events().size(), 1u);
  const EventDesc& event = guest.events()[0];
  EXPECT_THAT(event.ids, ElementsAre(13, 14));
  EXPECT_TRUE(event.attr.samples(abi::kSampleIdentifier));
  EXPECT_EQ(event.attr.exclude_host, 1u);
  EXPECT_EQ(event.name, "dummy:G");
  ByteBuilder out;
  guest.put_id_index(out);
  RecordBlock block;
  block.bytes = out.view();
  RecordRange range(block, kHostOrder);
  RecordView record;
  ASSERT_TRUE(range.next(record));
  auto index = decode_user<IdIndexRecord>(record);
  ASSERT_EQ(index->size(), 2u);
  EXPECT_EQ(index->entry(1).id, 14u);
  EXPECT_EQ(index->entry(1).tid, 102u);
  EXPECT_EQ(index->entry(1).cpu, UINT64_MAX);
  EXPECT_EQ(index->guest(1)->machine_pid, 100u);
  EXPECT_EQ(index->guest(1)->vcpu, 1u);
}

TEST_F(GuestRecordingTest, LossesAreOfTheNewIds) {
  GuestRecording guest = open(this->guest("LOST id=13 lost=5 time=700 id.id=13 cpu=1\n")).value();
  Bytes record = guest.until(UINT64_MAX);
  ASSERT_GT(record.size(), 16u);
  EXPECT_EQ(load<uint64_t>(record.data() + 8, kHostOrder), 14u);
}

TEST_F(GuestRecordingTest, WhatDoesNotFitIsRefused) {
  auto refusal = [](Result<GuestRecording> opened) {
    return opened ? std::string() : opened.error().message;
  };
  EXPECT_THAT(refusal(open(guest(""), std::string(kHostEvent))), HasSubstr("debug-threads=on"));
  EXPECT_THAT(refusal(open(std::string(kGuestEvent))), HasSubstr("which CPU id 12"));
  EXPECT_THAT(refusal(open(fmt::format("{}ID_INDEX entries=12,0,0,-1,13,1,7,-1\n", kGuestEvent))),
              HasSubstr("no thread 'CPU 7/KVM'"));
  EXPECT_THAT(refusal(open(guest("COMM pid=1 tid=1 comm=\"a\" time=1 id.id=12 cpu=5\n"))),
              HasSubstr("no thread 'CPU 5/KVM'"));
  EXPECT_THAT(refusal(open("event : name = x, type = 1, config = 9, sample_id_all = 1, "
                           "sample_type = IP|TID|TIME\n")),
              HasSubstr("no ids"));
  EXPECT_THAT(refusal(open("event : name = x, id = { 12, 13 }, type = 1, sample_id_all = 1, "
                           "sample_type = IP|TID|TIME|CPU\n" +
                           std::string(kIndex))),
              HasSubstr("no ids in its records"));
  EXPECT_THAT(
      refusal(open("event : name = x, id = { 12, 13 }, type = 1, sample_id_all = 1, sample_type = "
                   "IP|TID|CPU|IDENTIFIER\n" +
                   std::string(kIndex))),
      HasSubstr("no times"));
  EXPECT_THAT(refusal(open(guest(""),
                           "event : name = x, id = { 11 }, type = 1, sample_id_all = 1, "
                           "sample_type = IP|TID|TIME|ID|CPU\n" +
                               std::string(kHostTasks))),
              HasSubstr("--sample-identifier"));
}

}  // namespace
}  // namespace sonde
