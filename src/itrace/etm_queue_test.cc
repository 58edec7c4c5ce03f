#include "itrace/etm_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "elf/elf_builder.h"
#include "etm/trace_builder.h"
#include "itrace/decoded_lines.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/text/file_builder.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

constexpr uint64_t kLoop = 0x401000;
constexpr uint64_t kOfTrace = 5;  // the id of its event
constexpr uint32_t kEtmPmu = 8;
constexpr uint8_t kIdOfCpu0 = 0x10, kIdOfCpu1 = 0x12;
constexpr uint32_t kLoopCode[] = {
    0x14000002,  // 401000: b 401008
    0xd503201f,  // 401004: nop
    0xd503201f,  // 401008: nop
    0xb5ffffe0,  // 40100c: cbnz x0, 401008
    0xd65f03c0,  // 401010: ret
};

/// Of two CPUs: 10/11 runs on CPU 0, and 10/12 on CPU 1.
class EtmQueueTest : public testing::Test {
 protected:
  EtmQueueTest() : root_(testing::TempDir() + "etm." + std::to_string(::getpid())) {
    std::string program(reinterpret_cast<const char*>(kLoopCode), sizeof kLoopCode);
    ElfBuilder elf;
    uint32_t text = elf.section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kLoop, program);
    elf.load(text, true);
    std::vector<std::byte> bytes = elf.build();
    std::string all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    fs::create_directories(root_);
    std::ofstream(root_ + "/app", std::ios::binary) << all;
    EventDesc event;
    event.attr.type = kEtmPmu;
    event.attr.size = abi::kAttrSizeVer8;
    // Without an identifier, as simpleperf has it.
    event.attr.sample_type =
        abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSampleId | abi::kSampleCpu;
    event.attr.sample_id_all = 1;
    event.attr.exclude_kernel = event.attr.exclude_hv = 1;
    event.ids = {kOfTrace};
    event.name = "cs_etm//u";
    file_.events = {event};
    add_units(0);
    frame_.attr = &file_.events[0].attr;
    frame_.misc = abi::kMiscUser;
    at(1, 0);
    encode(CommRecord{10, 11, "app", true}, frame_, file_.data);
    MmapRecord mmap{};
    mmap.pid = mmap.tid = 10;
    mmap.start = RuntimeAddr(kLoop);
    mmap.length = 0x1000;
    mmap.offset = FileOffset(all.find(program));
    mmap.path = "/app";
    encode(mmap, frame_, file_.data);

    encode(TaskRecord{10, 10, 12, 11, 1}, frame_, file_.data);
    encode(ItraceStartRecord{10, 11}, frame_, file_.data);
    at(1, 1);
    encode(ItraceStartRecord{10, 12}, frame_, file_.data);
  }
  ~EtmQueueTest() override { fs::remove_all(root_); }

  /// `clock`: what timestamps are in.
  void add_units(uint64_t clock) {
    ByteBuilder words;
    for (uint64_t word : {uint64_t{1}, uint64_t{kEtmPmu} << 32 | 2, uint64_t{0}}) words.u64(word);
    for (const etm::TraceUnit& unit : {etm::test_unit(0, kIdOfCpu0), etm::test_unit(1, kIdOfCpu1)})
      for (uint64_t word :
           {uint64_t{0x4040404040404040}, uint64_t{unit.cpu}, uint64_t{8}, uint64_t{unit.config},
            uint64_t{unit.trace_id}, uint64_t{unit.id[0]}, uint64_t{unit.id[1]},
            uint64_t{unit.id[2]}, uint64_t{0}, uint64_t{0}, clock})
        words.u64(word);
    encode(AuxtraceInfoRecord{kAuxtraceCoreSight, WordView(words.view(), kHostOrder)}, file_.data);
  }
  void at(uint64_t time_ns, uint32_t cpu) {
    frame_.id = {.pid = 10, .tid = 11, .time = time_ns, .id = kOfTrace, .cpu = cpu};
  }
  void add(const std::vector<uint8_t>& trace, uint32_t cpu, uint64_t offset = 0) {
    encode(AuxtraceRecord{trace.size(), offset, 0, 0, 0, cpu}, file_.data);
    file_.data.bytes(std::as_bytes(std::span(trace)));
  }
  void add_stretch(uint64_t offset, uint64_t size, uint64_t flags = 0) {
    encode(AuxRecord{offset, size, flags}, frame_, file_.data);
  }

  Result<std::vector<std::string>> decode(std::string_view options) {
    ItraceOptions wanted = TRY(parse_itrace(options, ItraceDefaults::kScript));
    return itrace::decoded_lines(file_, root_, wanted, losses_, line_of);
  }

  LossLedger losses_;
  FileBuilder file_;
  RecordFrame frame_;
  std::string root_;

 private:
  static std::string line_of(const std::string& event, const Sample& sample, uint32_t flags) {
    return fmt::format("{} {}/{} {} {} {:x} {:x} {:x}", event, sample.id.pid, sample.id.tid,
                       sample.id.cpu, sample.id.time, sample.ip, sample.addr, flags);
  }
};

std::vector<uint8_t> loop(uint8_t trace_id) {
  etm::TraceBuilder trace;
  trace.begin(kLoop).taken().taken().not_taken();
  return etm::in_frames(trace.bytes(), trace_id);
}

TEST_F(EtmQueueTest, BranchesHaveTheTimeOfTheirAuxRecord) {
  std::vector<uint8_t> once = loop(kIdOfCpu0), twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  at(500, 0);
  add_stretch(0, once.size());
  at(600, 0);
  add_stretch(once.size(), once.size());
  add(twice, 0);
  EXPECT_THAT(
      *decode("b"),
      ElementsAre("branches:u 10/11 0 500 0 401000 101", "branches:u 10/11 0 500 401000 401008 1",
                  "branches:u 10/11 0 500 40100c 401008 9", "branches:u 10/11 0 500 40100c 0 209",
                  "branches:u 10/11 0 600 0 401000 101", "branches:u 10/11 0 600 401000 401008 1",
                  "branches:u 10/11 0 600 40100c 401008 9", "branches:u 10/11 0 600 40100c 0 209"));
  EXPECT_EQ(losses_.total(), 0U);
  // By default all branches are taken, not only calls.
  EXPECT_EQ(decode("")->size(), 8U);
  EXPECT_EQ(decode("i0ns")->size(), 10U);
  EXPECT_EQ(decode("i5i")->size(), 2U);
}

TEST_F(EtmQueueTest, ABufferMayHaveTheTracesOfSeveralUnits) {
  std::vector<uint8_t> both = loop(kIdOfCpu0), second = loop(kIdOfCpu1);
  both.insert(both.end(), second.begin(), second.end());
  at(500, 0);
  add_stretch(0, both.size());
  add(both, 0);
  auto lines = decode("b");
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_EQ(lines->size(), 8U);
  EXPECT_THAT(*lines, ::testing::Contains("branches:u 10/11 0 500 401000 401008 1"));
  EXPECT_THAT(*lines, ::testing::Contains("branches:u 10/12 1 500 401000 401008 1"));
}

TEST_F(EtmQueueTest, BytesOfUnitsThatAreNotDescribedAreCounted) {
  std::vector<uint8_t> both = loop(kIdOfCpu0), unknown = loop(0x33);
  both.insert(both.end(), unknown.begin(), unknown.end());
  at(500, 0);
  add_stretch(0, both.size());
  add(both, 0);
  EXPECT_EQ(decode("b")->size(), 4U);
  EXPECT_GE(losses_.count(LossKind::k_trace_of_unknown_unit), 16U);
  EXPECT_LE(losses_.count(LossKind::k_trace_of_unknown_unit), unknown.size());
}

TEST_F(EtmQueueTest, KernelsMayTellTheTraceIds) {
  at(2, 0);
  encode(AuxOutputHwIdRecord{0x33}, frame_, file_.data);
  at(500, 0);
  std::vector<uint8_t> trace = loop(0x33);
  add_stretch(0, trace.size());
  add(trace, 0);
  EXPECT_EQ(decode("b")->size(), 4U);
}

TEST_F(EtmQueueTest, ARawTraceIsTheCpusOwn) {
  constexpr uint64_t kRaw = 0x100;
  etm::TraceBuilder trace;
  trace.begin(kLoop).taken();
  at(500, 1);
  add_stretch(0, trace.bytes().size(), kRaw);
  add(trace.bytes(), 1);
  EXPECT_THAT(*decode("b"), ElementsAre("branches:u 10/12 1 500 0 401000 101",
                                        "branches:u 10/12 1 500 401000 0 201"));
}

TEST_F(EtmQueueTest, ContextsNameTheThread) {
  etm::TraceBuilder trace;
  trace.begin(kLoop).context(12).taken();
  std::vector<uint8_t> frames = etm::in_frames(trace.bytes(), kIdOfCpu0);
  at(500, 0);
  add_stretch(0, frames.size());
  add(frames, 0);
  EXPECT_THAT(*decode("b"), ElementsAre("branches:u 10/12 0 500 0 401000 101",
                                        "branches:u 10/12 0 500 401000 0 201"));
}

TEST_F(EtmQueueTest, TimestampsCountIfTheyCanBeConverted) {
  add_units(1);
  encode(TimeConvRecord{.shift = 0, .multiplier = 2, .zero = 100}, file_.data);
  etm::TraceBuilder trace;
  trace.begin(kLoop).timestamp(50).taken().timestamp(4000).taken();
  std::vector<uint8_t> frames = etm::in_frames(trace.bytes(), kIdOfCpu0);
  at(500, 0);
  add_stretch(0, frames.size());
  add(frames, 0);
  // None is later than the AUX record.
  EXPECT_THAT(*decode("be"), ElementsAre("branches:u 10/11 0 200 0 401000 101",
                                         "branches:u 10/11 0 500 401000 401008 1",
                                         "branches:u 10/11 0 500 40100c 0 209"));
}

TEST_F(EtmQueueTest, WhatCannotBeFollowedIsAnErrorAndALoss) {
  etm::TraceBuilder trace;
  trace.begin(kLoop).taken().taken().not_taken().taken().address(0x555000).taken();
  std::vector<uint8_t> frames = etm::in_frames(trace.bytes(), kIdOfCpu0);
  at(500, 0);
  add_stretch(0, frames.size());
  frames.resize(frames.size() + 32);
  add(frames, 0);
  EXPECT_THAT(
      *decode("be"),
      ElementsAre("branches:u 10/11 0 500 0 401000 101", "branches:u 10/11 0 500 401000 401008 1",
                  "branches:u 10/11 0 500 40100c 401008 9",
                  "branches:u 10/11 0 500 401010 555000 5",
                  "error 5 555000 500 Failed to get instruction", "error 8 0 500 Lost trace data"));
  EXPECT_GT(losses_.total(), 0U);
}

TEST_F(EtmQueueTest, StretchesThatOverlapAreDecodedOnce) {
  std::vector<uint8_t> trace = loop(kIdOfCpu0);
  at(500, 0);
  for (int i = 0; i < 3; ++i) add_stretch(0, trace.size());
  add(trace, 0);
  EXPECT_EQ(decode("b")->size(), 4U);
}

}  // namespace
}  // namespace sonde
