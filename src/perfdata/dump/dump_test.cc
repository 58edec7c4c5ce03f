#include "perfdata/dump/dump.h"

#include <gtest/gtest.h>

#include "perfdata/dump/header_text.h"
#include "perfdata/text/format.h"

namespace sonde {
namespace {

std::string dump_of(std::string_view text, DumpFor command) {
  auto bytes = assemble(text);
  EXPECT_TRUE(bytes) << bytes.error().message;
  LossLedger losses;
  auto recording = Recording::open_bytes(*bytes, "x.data", losses);
  EXPECT_TRUE(recording);
  StringSink out;
  dump_recording(
      *recording, {command},
      [](const TimedRecord&, const Sample* sample, Sink& sink) {
        if (sample != nullptr) sink.print(" ... thread: app:{}\n", sample->id.tid);
      },
      losses, out);
  return out.text();
}

constexpr std::string_view kEvent =
    "event : name = e, id = { 7 }, type = 1, sample_type = IP|TID|TIME|CALLCHAIN|IDENTIFIER, "
    "sample_id_all = 1\n";

// As perf 6.1 prints the same bytes.
TEST(Dump, HexThenDecodedLineThenTheTail) {
  std::string text =
      std::string(kEvent) + "SAMPLE ip=0x401000 pid=10 tid=11 time=2000 chain=user,0x401000\n";
  EXPECT_EQ(dump_of(text, DumpFor::kReport),
            "\n0x100@x.data [0x40]: event: 9\n"
            ".\n"
            ". ... raw event: size 64 bytes\n"
            ".  0000:  09 00 00 00 02 00 40 00 07 00 00 00 00 00 00 00  ......@.........\n"
            ".  0010:  00 10 40 00 00 00 00 00 0a 00 00 00 0b 00 00 00  ..@.............\n"
            ".  0020:  d0 07 00 00 00 00 00 00 02 00 00 00 00 00 00 00  ................\n"
            ".  0030:  00 fe ff ff ff ff ff ff 00 10 40 00 00 00 00 00  ..........@.....\n"
            "\n"
            "2000 0x100 [0x40]: PERF_RECORD_SAMPLE(IP, 0x2): 10/11: 0x401000 period: 0 addr: 0\n"
            "... FP chain: nr:2\n"
            ".....  0: fffffffffffffe00\n"
            ".....  1: 0000000000401000\n"
            " ... thread: app:11\n");
}

/// The lines after the hex, in order.
std::vector<std::string> decoded_lines(std::string_view dump) {
  std::vector<std::string> lines;
  for (size_t at = 0; (at = dump.find("PERF_RECORD_", at)) != std::string_view::npos; ++at)
    lines.emplace_back(dump.substr(at + 12, dump.find('\n', at) - at - 12));
  return lines;
}

TEST(Dump, RecorderRecordsAtOnceKernelRecordsByTime) {
  std::string text = std::string(kEvent) +
                     "COMM pid=1 comm=\"late\" time=300\n"
                     "COMM pid=1 comm=\"early\" time=100\n"
                     "CPU_MAP cpus=0,1,3\n"
                     "COMM pid=1 comm=\"synthesised\" id.time=0\n";
  EXPECT_EQ(decoded_lines(dump_of(text, DumpFor::kScript)),
            (std::vector<std::string>{"CPU_MAP: 0-1,3", "COMM: synthesised:1/1", "COMM: early:1/1",
                                      "COMM: late:1/1"}));
}

TEST(Dump, CommandsLeaveDifferentRecordsUnhandled) {
  std::string text = std::string(kEvent) + "CPU_MAP cpus=0\nTHROTTLE time=1\n";
  auto count = [&](DumpFor command) {
    std::string dump = dump_of(text, command);
    size_t found = 0;
    for (size_t at = 0; (at = dump.find(": unhandled!\n", at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count(DumpFor::kReport), 2u);
  EXPECT_EQ(count(DumpFor::kScript), 0u);
}

TEST(HeaderText, CountsInterpretedFunctionsAndListsTheirFilesIfAsked) {
  auto bytes = assemble(std::string(kEvent) +
                        "feature INTERPRETED_FILES: \"/srv/app.py\" 0 2 0 10 5 \"row\" 6 40 0 "
                        "\"main\" \"<string>\" 268435456 1 0 1 3 \"<module>\"\n");
  ASSERT_TRUE(bytes) << bytes.error().message;
  LossLedger losses;
  auto recording = Recording::open_bytes(*bytes, "x.data", losses);
  ASSERT_TRUE(recording);
  auto header = [&](bool full) {
    StringSink out;
    write_header_text(out, *recording, full);
    return out.text();
  };
  constexpr std::string_view kCount = "# interpreted functions : 3 of 2 source files\n";
  constexpr std::string_view kFiles =
      "#  0x100000000000000: 2 of /srv/app.py\n"
      "#  0x100000010000000: 1 of <string>\n";
  EXPECT_NE(header(false).find(kCount), std::string::npos);
  EXPECT_EQ(header(false).find(kFiles), std::string::npos);
  EXPECT_NE(header(true).find(std::string(kCount) + std::string(kFiles)), std::string::npos);
}

}  // namespace
}  // namespace sonde
