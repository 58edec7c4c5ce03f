#include "itrace/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "elf/elf_builder.h"
#include "itrace/decoded_lines.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/text/file_builder.h"
#include "pt/trace_builder.h"

#if __has_include(<intel-pt.h>)

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

constexpr uint64_t kStart = 0x401000;
constexpr uint32_t kPmuType = 77;
constexpr const char* kObject = "/app";

/// 401000 call 401010;  401005 jmp 401005;  401007 syscall;
/// 401010 jne 401014;  401012 nop;  401013 nop;  401014 ret
const std::string kProgram("\xe8\x0b\0\0\0\xeb\xfe\x0f\x05\0\0\0\0\0\0\0\x75\x02\x90\x90\xc3", 21);

/// A recording of a thread, 10/11, that ran the program.
class TraceDecoding : public testing::Test {
 protected:
  TraceDecoding() : root_(testing::TempDir() + "itrace." + std::to_string(::getpid())) {
    ElfBuilder elf;
    uint32_t text = elf.section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kStart, kProgram);
    elf.load(text, true);
    std::vector<std::byte> bytes = elf.build();
    fs::create_directories(root_);
    std::ofstream(root_ + kObject, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text_offset_ = all.find(kProgram);
    EventDesc event;
    event.attr.type = kPmuType;
    event.attr.size = abi::kAttrSizeVer8;
    event.attr.sample_type =
        abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSampleIdentifier;
    event.attr.sample_id_all = 1;
    event.attr.exclude_kernel = event.attr.exclude_hv = 1;
    event.ids = {5};
    event.name = "pt//u";
    file_.events = {event};
  }
  ~TraceDecoding() override { fs::remove_all(root_); }

  void begin(uint32_t type = kAuxtraceIntelPt) {
    ByteBuilder words;
    for (uint64_t word : {uint64_t{kPmuType}, uint64_t{0}, uint64_t{1}, uint64_t{1000}, uint64_t{1},
                          uint64_t{0x400}, uint64_t{0}, uint64_t{0}, uint64_t{0}, uint64_t{0}})
      words.u64(word);
    encode(AuxtraceInfoRecord{type, WordView(words.view(), kHostOrder)}, file_.data);
    RecordFrame frame{.attr = &file_.events[0].attr,
                      .id = {.pid = 10, .tid = 11, .time = 1, .id = 5, .stream_id = 5, .cpu = 0}};
    frame.misc = abi::kMiscUser;
    encode(CommRecord{10, 11, "app", true}, frame, file_.data);
    MmapRecord mmap{};
    mmap.pid = 10;
    mmap.tid = 11;
    mmap.start = RuntimeAddr(kStart);
    mmap.length = 0x1000;
    mmap.offset = FileOffset(text_offset_);
    mmap.path = kObject;
    encode(mmap, frame, file_.data);
  }
  void add(const pt::TraceBuilder& trace, uint64_t offset = 0) { add(trace.view(), offset); }
  void add(Bytes trace, uint64_t offset = 0) {
    encode(AuxtraceRecord{.size = trace.size(),
                          .offset = offset,
                          .reference = 0,
                          .index = 0,
                          .tid = 11,
                          .cpu = UINT32_MAX},
           file_.data);
    file_.data.bytes(trace);
  }

  Result<std::vector<std::string>> decode(std::string_view options) {
    ItraceOptions wanted = TRY(parse_itrace(options, ItraceDefaults::kReport));
    return itrace::decoded_lines(file_, root_, wanted, losses_, line_of);
  }

  /// Of all samples that the recording has then.
  std::vector<std::string> all_lines(const ItraceOptions& wanted) {
    return *itrace::decoded_lines(file_, root_, wanted, losses_, line_of, true);
  }

  LossLedger losses_;
  FileBuilder file_;
  std::string root_;
  uint64_t text_offset_ = 0;

 private:
  static std::string line_of(const std::string& event, const Sample& sample, uint32_t flags) {
    std::string line =
        fmt::format("{} {}/{} {} {:x} {:x} {} {:x}", event, sample.id.pid, sample.id.tid,
                    sample.id.time, sample.ip, sample.addr, sample.period, flags);
    for (size_t i = 0; i < sample.callchain.size(); ++i)
      line += fmt::format(" <{:x}", sample.callchain[i]);
    for (size_t i = 0; i < sample.branch_count(); ++i)
      line += fmt::format(" {:x}>{:x}", sample.branch(i).from, sample.branch(i).to);
    if (sample.raw.size() >= 4) line += fmt::format(" raw {:x}", load<uint32_t>(sample.raw.data()));
    if (sample.raw.size() >= 12)
      line += fmt::format(" {:x}", load<uint64_t>(sample.raw.data() + 4));
    return line;
  }
};

pt::TraceBuilder one_call() {
  pt::TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(kStart);
  trace.branches("N");
  trace.target(kStart + 7);
  trace.disable();
  return trace;
}

TEST_F(TraceDecoding, BranchesAreThoseThatWereTaken) {
  begin();
  add(one_call());
  auto lines = decode("b");
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_THAT(*lines, ElementsAre("branches:u 10/11 1100 0 401000 1 101",
                                  "branches:u 10/11 1100 401000 401010 1 3",
                                  "branches:u 10/11 1100 401014 401007 1 5",
                                  "branches:u 10/11 1100 401007 0 1 213"));
  EXPECT_EQ(losses_.total(), 0u);
}

TEST_F(TraceDecoding, CallsAndReturnsAlone) {
  begin();
  add(one_call());
  EXPECT_THAT(*decode("c"), ElementsAre("branches:u 10/11 1100 401000 401010 1 3",
                                        "branches:u 10/11 1100 401007 0 1 213"));
  EXPECT_THAT(*decode("r"), ElementsAre("branches:u 10/11 1100 0 401000 1 101",
                                        "branches:u 10/11 1100 401014 401007 1 5"));
}

TEST_F(TraceDecoding, PeriodsAddUpToTheInstructions) {
  begin();
  add(one_call());
  auto all = decode("i0ns");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 6u);
  EXPECT_EQ(all->front(), "instructions:u 10/11 1100 401000 0 1 3");
  EXPECT_THAT(*decode("i2i"), ElementsAre("instructions:u 10/11 1100 401010 0 2 9",
                                          "instructions:u 10/11 1100 401013 0 2 0",
                                          "instructions:u 10/11 1100 401007 0 2 213"));
  EXPECT_EQ(decode("i0nss4")->size(), 2u);
}

TEST_F(TraceDecoding, SamplesHaveCallChains) {
  begin();
  add(one_call());
  std::string user = " <fffffffffffffe00";
  // The return does not lead behind the call: as in perf, the call is not left.
  EXPECT_THAT(*decode("i2ig"),
              ElementsAre("instructions:u 10/11 1100 401010 0 2 9" + user + " <401010 <401005",
                          "instructions:u 10/11 1100 401013 0 2 0" + user + " <401013 <401005",
                          "instructions:u 10/11 1100 401007 0 2 213" + user + " <401007 <401005"));
  EXPECT_EQ(decode("i2ig1")->front(), "instructions:u 10/11 1100 401010 0 2 9" + user + " <401010");
}

TEST_F(TraceDecoding, SamplesHaveTheLatestBranches) {
  begin();
  add(one_call());
  EXPECT_THAT(*decode("i2il2"),
              ElementsAre("instructions:u 10/11 1100 401010 0 2 9 401000>401010 0>401000",
                          "instructions:u 10/11 1100 401013 0 2 0 401000>401010 0>401000",
                          "instructions:u 10/11 1100 401007 0 2 213 401014>401007 401000>401010"));
}

TEST_F(TraceDecoding, MissingCodeIsAnErrorAndALoss) {
  begin();
  pt::TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(0x777000);
  trace.branches("T");
  add(trace);
  EXPECT_THAT(*decode("e"), ElementsAre("error 5 777000 1100 Failed to get instruction"));
  EXPECT_EQ(losses_.count(LossKind::k_trace_without_code), 1u);
}

TEST_F(TraceDecoding, PiecesThatContinueOneAnotherAreOneTrace) {
  begin();
  pt::TraceBuilder whole = one_call();
  pt::TraceBuilder first, second;
  size_t half = whole.view().size() - 5;
  for (size_t i = 0; i < whole.view().size(); ++i)
    (i < half ? first : second).bytes({std::to_integer<uint8_t>(whole.view()[i])});
  add(first);
  add(second, half);
  EXPECT_EQ(decode("b")->size(), 4u);
}

TEST_F(TraceDecoding, OtherTracersAreRefused) {
  begin(5);
  add(one_call());
  auto refused = decode("b");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("s390 sampling data"));
}

TEST_F(TraceDecoding, OnlyIntelPtHasSamplesOfTheProcessor) {
  begin(kAuxtraceIntelBts);
  add(one_call());
  auto refused = decode("bo");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("aux-output"));
}

TEST_F(TraceDecoding, CyclesAreThoseOfCycPackets) {
  begin();
  add(one_call());
  auto none = decode("bA");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, ::testing::HasSubstr("does not tell cycles"));
}

TEST_F(TraceDecoding, QuickDecodingNeedsNoCode) {
  begin();
  add(one_call());
  fs::remove_all(root_);
  EXPECT_THAT(*decode("biq"), ElementsAre("branches:u 10/11 1100 0 401000 1 101",
                                          "instructions:u 10/11 1100 401000 0 1 0",
                                          "instructions:u 10/11 1100 401007 0 1 0"));
  EXPECT_THAT(*decode("iqq"), ElementsAre());
  EXPECT_EQ(losses_.total(), 0u);
}

TEST_F(TraceDecoding, PowerEventsAreSamplesWithTheirPackets) {
  begin();
  pt::TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(kStart);
  trace.branches("N");
  trace.bytes({0x02, 0x22, 0x80, 0x31});                    // PWRE
  trace.bytes({0x02, 0xa2, 0x34, 0x01, 0x00, 0x00, 0x00});  // PWRX
  trace.bytes({0x02, 0x62});                                // EXSTOP
  trace.bytes({0x02, 0x03, 0x14, 0x00});                    // CBR
  trace.target(kStart + 7);
  trace.disable();
  add(trace);
  auto lines = decode("p");
  ASSERT_TRUE(lines) << lines.error().message;
  // What happened between two instructions has the address of the second.
  EXPECT_THAT(
      *lines,
      ElementsAre("psb 10/11 1100 0 0 1 0 raw 0 0", "pwre 10/11 1100 401012 0 1 0 raw 0 3180",
                  "pwrx 10/11 1100 401012 0 1 0 raw 0 134", "exstop 10/11 1100 401012 0 1 0 raw 0",
                  "cbr 10/11 1100 401012 0 1 0 raw a0014 1e8480"));
}

TEST_F(TraceDecoding, OtherSamplesGetTheTracesChains) {
  EventDesc other = file_.events[0];
  other.attr.type = abi::kTypeHardware;
  other.name = "cycles:u";
  other.ids = {6};
  file_.events.push_back(other);
  begin();
  auto sample = [&](uint64_t time, uint64_t ip) {
    Sample made;
    made.id = {.pid = 10, .tid = 11, .time = time, .id = 6, .stream_id = 6, .cpu = 0};
    made.ip = ip;
    made.misc = abi::kMiscUser;
    encode_sample(made, file_.events[1].attr, file_.data);
  };
  sample(1050, 0x401000);
  sample(1150, 0x401012);
  sample(1900, 0x401008);
  pt::TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(kStart);
  trace.branches("N");
  trace.time(400);
  trace.target(kStart + 7);
  trace.disable();
  add(trace);
  ItraceOptions wanted = *parse_itrace("GL2", ItraceDefaults::kReport);
  std::vector<std::string> all = all_lines(wanted);
  std::string user = " <fffffffffffffe00";
  EXPECT_THAT(all, ElementsAre("cycles:u 10/11 1050 401000 0 0 ffffffff" + user + " <401000",
                               "cycles:u 10/11 1150 401012 0 0 ffffffff" + user +
                                   " <401012 <401005 401000>401010 0>401000",
                               "cycles:u 10/11 1900 401008 0 0 ffffffff" + user +
                                   " <401008 <401005 401007>0 401014>401007"));
}

TEST_F(TraceDecoding, BranchTraceStoresTellBranchesAndTheCodeTheirKinds) {
  begin(kAuxtraceIntelBts);
  ByteBuilder branches;
  auto branch = [&](uint64_t from, uint64_t to) {
    for (uint64_t word : {from, to, uint64_t{0}}) branches.u64(word);
  };
  branch(0, kStart);
  branch(kStart, kStart + 0x10);
  branch(kStart + 0x14, kStart + 5);
  branch(0, 0);
  branch(0x99000, kStart);
  Bytes all = branches.view();
  constexpr size_t kCut = 30;  // within a record
  add(all.first(kCut));
  add(all.subspan(kCut), kCut);
  auto lines = decode("be");
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_EQ(lines->size(), 5u);
  EXPECT_THAT((*lines)[0], ::testing::EndsWith(" 0 401000 1 101"));
  EXPECT_THAT((*lines)[1], ::testing::EndsWith(" 401000 401010 1 3"));
  EXPECT_THAT((*lines)[2], ::testing::EndsWith(" 401014 401005 1 5"));
  EXPECT_EQ((*lines)[3], "error 5 99000 0 Failed to get instruction");
  EXPECT_THAT((*lines)[4], ::testing::EndsWith(" 99000 401000 1 0"));
}

TEST_F(TraceDecoding, TracesInSamplesAreFollowedAsOne) {
  EventDesc sampled = file_.events[0];
  sampled.attr.type = 1;
  sampled.attr.sample_type |= abi::kSampleAux;
  sampled.ids = {6};
  file_.events.push_back(sampled);
  begin();
  pt::TraceBuilder trace = one_call();
  for (Bytes seen : {trace.view(), trace.view()}) {
    Sample sample;
    sample.id = {.pid = 10, .tid = 11, .time = 2000, .id = 6, .stream_id = 6, .cpu = 0};
    sample.ip = kStart;
    sample.aux = seen;
    encode_sample(sample, file_.events[1].attr, file_.data);
  }
  auto lines = decode("b");
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_THAT(*lines, ElementsAre("branches:u 10/11 1100 0 401000 1 101",
                                  "branches:u 10/11 1100 401000 401010 1 3",
                                  "branches:u 10/11 1100 401014 401007 1 5",
                                  ::testing::StartsWith("branches:u 10/11 1100 401007")));
}

}  // namespace
}  // namespace sonde

#endif
