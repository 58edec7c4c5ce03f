#include "perfdata/text/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perfdata/dump/dump.h"
#include "perfdata/records/sideband.h"
#include "perfdata/text/fields.h"

namespace sonde {
namespace {

using testing::HasSubstr;

constexpr std::string_view kEventLine =
    "event : name = cpu-clock, id = { 7 }, type = 1, size = 128, "
    "{ sample_period, sample_freq } = 4000, sample_type = IP|TID|TIME|CALLCHAIN|PERIOD|IDENTIFIER, "
    "freq = 1, sample_id_all = 1\n";

struct Opened {
  std::vector<std::byte> bytes;
  LossLedger losses;
  std::optional<Recording> recording;
};
void open(std::string_view text, Opened& opened) {
  auto bytes = assemble(text);
  ASSERT_TRUE(bytes) << bytes.error().message;
  opened.bytes = std::move(*bytes);
  auto recording = Recording::open_bytes(opened.bytes, "x.data", opened.losses);
  ASSERT_TRUE(recording) << recording.error().message;
  opened.recording = std::move(*recording);
}
std::vector<RecordView> records_of(const Recording& recording) {
  std::vector<RecordView> all;
  for (const RecordBlock& block : recording.blocks()) {
    RecordRange range(block, recording.byte_order());
    for (RecordView record; range.next(record);) all.push_back(record);
  }
  return all;
}
std::string dump_of(const Opened& opened) {
  StringSink out;
  LossLedger losses;
  dump_recording(*opened.recording, {}, {}, losses, out);
  return out.text();
}
std::string text_of(const Opened& opened) {
  StringSink out;
  LossLedger losses;
  disassemble(*opened.recording, losses, out);
  return out.text();
}

TEST(TextFormat, DescribesEventsFeaturesAndRecords) {
  for (std::string_view order : {"little", "big"}) {
    Opened opened;
    open(fmt::format("# a comment\norder: {}\n{}"
                     "feature HOSTNAME: \"vm\"\n"
                     "feature CMDLINE: \"perf\" \"record\"\n"
                     "COMM pid=10 comm=\"my \\\"app\\\"\" exec time=1000\n"
                     "MMAP2 pid=10 start=0x400000 length=0x1000 path=\"/bin/x\" mode=user\n"
                     "SAMPLE ip=0x401000 pid=10 tid=11 time=2000 \\\n"
                     "  chain=user,0x401000,0x401100\n"
                     "FINISHED_ROUND\n",
                     order, kEventLine),
         opened);
    const Recording& r = *opened.recording;
    EXPECT_EQ(r.byte_order(), order == "big" ? ByteOrder::kBig : ByteOrder::kLittle);
    EXPECT_EQ(r.features().hostname, "vm");
    EXPECT_EQ(r.features().command_line, (std::vector<std::string>{"perf", "record"}));
    ASSERT_EQ(r.events().size(), 1u);
    const EventDesc& event = r.events().all()[0];
    EXPECT_EQ(event.name, "cpu-clock");
    EXPECT_EQ(event.ids, std::vector<uint64_t>{7});
    EXPECT_EQ(event.attr.freq, 1u);
    EXPECT_EQ(event.attr.sample_period, 4000u);
    std::vector<RecordView> records = records_of(r);
    ASSERT_EQ(records.size(), 4u);
    auto comm = decode_as<CommRecord>(records[0], event.layout);
    EXPECT_EQ(comm->comm, "my \"app\"");
    EXPECT_TRUE(comm->exec);
    EXPECT_EQ(decode_trailing_id(records[0], event.layout).time, 1000u);
    EXPECT_EQ(decode_as<MmapRecord>(records[1], event.layout)->path, "/bin/x");
    Sample sample;
    ASSERT_TRUE(decode_sample(records[2], event.layout, sample));
    EXPECT_EQ(sample.id.id, 7u);
    EXPECT_EQ(sample.id.tid, 11u);
    EXPECT_EQ(sample.cpu_mode, abi::kMiscUser);
    ASSERT_EQ(sample.callchain.size(), 3u);
    EXPECT_EQ(sample.callchain[0], abi::kContextUser);
    EXPECT_EQ(records[3].type, abi::kRecordFinishedRound);
  }
}

constexpr std::string_view kEveryRecord =
    "MMAP pid=1 start=0x1000 length=4096 path=\"/bin/x\" misc=0x2000\n"
    "MMAP2 pid=1 start=0x1000 length=4096 path=\"/bin/x\" build_id=hex:00112233\n"
    "LOST id=7 lost=3\n"
    "COMM pid=1 comm=\"x\"\n"
    "EXIT pid=1 ppid=2 time=5\n"
    "THROTTLE time=1 id=7\n"
    "UNTHROTTLE time=2 id=7\n"
    "FORK pid=1 ppid=2 time=4\n"
    "READ pid=1 values=9\n"
    "SAMPLE ip=0xffffffff81000000 time=9 period=3\n"
    "AUX offset=1 size=2 flags=1\n"
    "ITRACE_START pid=1\n"
    "LOST_SAMPLES lost=2\n"
    "SWITCH out\n"
    "SWITCH_CPU_WIDE preempt other_pid=3 other_tid=4\n"
    "NAMESPACES pid=1 links=1,2,3,4\n"
    "KSYMBOL address=0xffffffffc0000000 length=64 name=\"bpf\"\n"
    "BPF_EVENT event_type=1 bpf_id=4 tag=hex:0102\n"
    "CGROUP cgroup=5 path=\"/\"\n"
    "TEXT_POKE address=0x10 old_bytes=hex:90 new_bytes=hex:cc\n"
    "AUX_OUTPUT_HW_ID hw_id=4\n"
    "CALLCHAIN_DEFERRED cookie=1 chain=user,2\n"
    "ID_INDEX entries=7,0,0,1\n"
    "AUXTRACE_INFO type=1 priv=1,2\n"
    "AUXTRACE_ERROR type=1 message=\"lost\"\n"
    "THREAD_MAP tids=1,2 comms=a,b\n"
    "CPU_MAP cpus=0,1,-1\n"
    "STAT_CONFIG terms=0,1\n"
    "STAT id=7 value=1\n"
    "STAT_ROUND type=1 time=5\n"
    "EVENT_UPDATE id=7 scale=0.5\n"
    "TIME_CONV shift=1 multiplier=2 zero=3\n"
    "FINISHED_INIT\n";
// A record of an unknown type, in either byte order.
constexpr std::string_view kUnknownRecord[] = {
    "raw: 7f 00 00 00 00 00 10 00 01 02 03 04 05 06 07 08\n",
    "raw: 00 00 00 7f 00 00 00 10 01 02 03 04 05 06 07 08\n"};

TEST(TextFormat, DumpOfEveryRecordAssemblesToTheSameBytes) {
  for (std::string_view order : {"little", "big"}) {
    Opened opened;
    open(fmt::format("order: {}\n{}{}{}", order, kEventLine, kEveryRecord,
                     kUnknownRecord[order == "big" ? 1 : 0]),
         opened);
    EXPECT_EQ(records_of(*opened.recording).size(), 34u);
    std::string text = text_of(opened);
    Opened again;
    open(text, again);
    EXPECT_TRUE(as_text(opened.bytes) == as_text(again.bytes));
    EXPECT_EQ(text_of(again), text);
  }
}

TEST(TextFormat, PlainDumpWithHeaderLinesIsEnough) {
  Opened opened;
  open(fmt::format("{}feature HOSTNAME: \"vm\"\n{}", kEventLine, kEveryRecord), opened);
  Opened again;
  open("# hostname : vm\n# " + std::string(kEventLine) + "#\n" + dump_of(opened), again);
  EXPECT_TRUE(as_text(opened.bytes) == as_text(again.bytes));
}

TEST(TextFormat, InterpretedFunctionsAreText) {
  constexpr std::string_view kFeature =
      "feature INTERPRETED_FILES: \"/srv/app.py\" 0 2 0 10 5 \"Matrix.row\" 6 40 0 \"main\" "
      "\"<string>\" 268435456 1 0 1 3 \"<module>\"\n";
  Opened opened;
  open(fmt::format("{}{}", kEventLine, kFeature), opened);
  const std::vector<InterpretedFile>& files = opened.recording->features().interpreted_files;
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].functions[0], (InterpretedFile::Function{0, 10, 5, "Matrix.row"}));
  EXPECT_EQ(files[1].path, "<string>");
  EXPECT_EQ(files[1].start, kInterpretedBase + kInterpretedFileBytes);
  EXPECT_THAT(text_of(opened), HasSubstr(kFeature));
}

TEST(TextFormat, InterpretedFunctionsInPipesAreUpdatesOfAnEvent) {
  for (std::string_view order : {"little", "big"}) {
    Opened opened;
    open(fmt::format("order: {}\nmode: pipe\n{}"
                     "EVENT_UPDATE id=7 interpreted=\"\\\"a b.py\\\" 0 1 0 10 5 \\\"row\\\"\"\n"
                     "EVENT_UPDATE id=7 interpreted=\"\\\"<string>\\\" 268435456 1 0 1 3 "
                     "\\\"<module>\\\"\"\nFINISHED_ROUND\n",
                     order, kEventLine),
         opened);
    records_of(*opened.recording);
    const std::vector<InterpretedFile>& files = opened.recording->features().interpreted_files;
    ASSERT_EQ(files.size(), 2u);
    EXPECT_EQ(files[0].path, "a b.py");
    EXPECT_EQ(files[0].functions[0], (InterpretedFile::Function{0, 10, 5, "row"}));
    EXPECT_EQ(files[1].start, kInterpretedBase + kInterpretedFileBytes);
    Opened again;
    open(text_of(opened), again);
    EXPECT_TRUE(as_text(opened.bytes) == as_text(again.bytes));
  }
}

TEST(TextFormat, PipesCarryTheirEventsThemselves) {
  Opened opened;
  open(fmt::format("mode: pipe\n{}feature HOSTNAME: \"vm\"\nfeature TRACING_DATA: 01 02 03\n"
                   "BUILD_ID id=hex:00112233445566778899aabbccddeeff00112233 path=\"/x\"\n"
                   "SAMPLE ip=0x1 time=4\n",
                   kEventLine),
       opened);
  EXPECT_TRUE(opened.recording->facts().is_pipe);
  ASSERT_EQ(opened.recording->events().size(), 1u);
  EXPECT_EQ(opened.recording->features().hostname, "vm");
  ASSERT_EQ(opened.recording->features().build_ids.size(), 1u);
  Opened again;
  open(text_of(opened), again);
  EXPECT_TRUE(as_text(opened.bytes) == as_text(again.bytes));
}

TEST(TextFormat, CompressedRecordsExpandToTheSameDump) {
  Opened plain, packed;
  open(fmt::format("{}{}", kEventLine, kEveryRecord), plain);
  open(fmt::format("{}compression: 3\n{}", kEventLine, kEveryRecord), packed);
  auto types = [](const Recording& recording) {
    std::vector<uint32_t> out;
    for (const RecordView& record : records_of(recording))
      if (record.type != abi::kRecordCompressed) out.push_back(record.type);
    return out;
  };
  EXPECT_EQ(types(*plain.recording), types(*packed.recording));
  EXPECT_EQ(packed.recording->features().compressed->level, 3u);
}

TEST(TextFormat, FilesOfCrashedRecorders) {
  Opened opened;
  open(fmt::format("{}data size: 0\nfeature HOSTNAME: \"vm\"\nSAMPLE ip=0x1 time=4\n", kEventLine),
       opened);
  EXPECT_TRUE(opened.recording->facts().recorder_crashed);
  EXPECT_EQ(records_of(*opened.recording).size(), 1u);
}

TEST(TextFormat, TruncationCutsTheLastRecord) {
  Opened opened;
  open(fmt::format("{}data size: 0\nfeature HOSTNAME: \"vm\"\nSAMPLE ip=0x1 time=4\nSAMPLE "
                   "ip=0x2 time=5\ntruncate: 3\n",
                   kEventLine),
       opened);
  EXPECT_EQ(records_of(*opened.recording).size(), 1u);
  EXPECT_GT(opened.losses.total(), 0u);
}

TEST(TextFormat, ErrorsNameLineAndCause) {
  auto error_of = [](std::string_view text) {
    auto result = assemble(text);
    return result ? std::string() : result.error().message;
  };
  EXPECT_THAT(error_of("\nNONSENSE a=1\n"), HasSubstr("line 2: no record or directive NONSENSE"));
  EXPECT_THAT(error_of(fmt::format("{}COMM pid=x\n", kEventLine)),
              HasSubstr("line 2: pid=x: a number expected"));
  EXPECT_THAT(error_of(fmt::format("{}COMM pidd=1\n", kEventLine)),
              HasSubstr("unknown field pidd"));
  EXPECT_THAT(error_of("SAMPLE ip=1\n"), HasSubstr("needs an event"));
  EXPECT_THAT(error_of("event : type = 1, colour = 3\n"), HasSubstr("no field colour"));
  EXPECT_THAT(error_of("event : sample_type = IP|TASTE\n"), HasSubstr("not a value"));
  EXPECT_THAT(error_of("order: middle\n"), HasSubstr("little or big"));
  EXPECT_THAT(error_of("feature NOPE: 1\n"), HasSubstr("no feature NOPE"));
  EXPECT_THAT(error_of("feature NRCPUS: 1\n"), HasSubstr("NRCPUS"));
  EXPECT_THAT(error_of("feature INTERPRETED_FILES: \"/srv/app.py\" 0 1\n"),
              HasSubstr("INTERPRETED_FILES"));
  EXPECT_THAT(error_of("raw: 0g\n"), HasSubstr("hex bytes expected"));
  EXPECT_THAT(error_of("COMM comm=\"x\n"), HasSubstr("no closing quote"));
  EXPECT_THAT(error_of(fmt::format("{}COMM comm=\"{}\"\n", kEventLine, std::string(70'000, 'x'))),
              HasSubstr("longer than a record can be"));
  EXPECT_THAT(error_of("# nothing\n"), HasSubstr("no event is described"));
}

TEST(TextFormat, QuotedStringsKeepEveryByte) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  std::string text = in_quotes(all);
  std::string_view rest = text;
  EXPECT_EQ(take_quoted(rest).value(), all);
  EXPECT_TRUE(rest.empty());
}

}  // namespace
}  // namespace sonde
