#include "stacks/script_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stacks/profile_lines.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kText = R"(# captured on: today
cc1  10/11 [003] 1.000000:      100 cycles:
	            4f4f parse+0x3df (/usr/lib/cc1)
	            d780 main+0x20 (/usr/lib/cc1)

cc1  10/11 [001] 2.000000:       50 cycles:
	            4f50 parse+0x3e0 (/usr/lib/cc1)
	            d780 main+0x20 (/usr/lib/cc1)

make  12/12 [001] 3.000000:        7 instructions:
	            d780 main+0x20 (/usr/bin/make)

)";

Result<StackProfile> read_text(std::string_view text, const SessionStacksOptions& options = {},
                               const SampleFilter& filter = {}) {
  LossLedger losses;
  ScriptTextReader reader("test", options, filter, losses);
  reader.feed(text);
  return std::move(reader).finish();
}

TEST(ScriptText, IsAProfile) {
  StackProfile profile = read_text(kText).value();
  ASSERT_EQ(profile.columns.size(), 2u);
  EXPECT_EQ(profile.columns[0].name, "cycles");
  EXPECT_EQ(profile.columns[0].unit, "events");
  EXPECT_EQ(profile.columns[0].samples, 2u);
  EXPECT_THAT(lines_of(profile), ElementsAre("cc1;main;parse 150"));
  EXPECT_THAT(lines_of(profile, 1), ElementsAre("make;main 7"));
}

TEST(ScriptText, LinesOfSourceThatComeAgainAndAgainDontAddUp) {
  std::string text = "cc1  10/11 [003] 1.000000:      100 cycles:\n\t  4f4f parse\n";
  constexpr size_t kLines = 20'000;
  for (size_t i = 0; i < kLines; ++i) text += "  parse.c:12 (inlined)\n";
  StackProfile profile = read_text(text + "\n").value();
  EXPECT_THAT(lines_of(profile), ElementsAre("cc1;parse 100"));
}

TEST(ScriptText, ComesInPiecesOfAnySize) {
  std::vector<std::string> whole = lines_of(read_text(kText).value());
  for (size_t size = 1; size < 60; ++size) {
    LossLedger losses;
    ScriptTextReader reader("test", {}, {}, losses);
    for (size_t at = 0; at < kText.size(); at += size) reader.feed(kText.substr(at, size));
    EXPECT_EQ(lines_of(std::move(reader).finish().value()), whole) << size;
  }
}

TEST(ScriptText, SamplesHaveTimesAndThreads) {
  StackProfile profile = read_text(kText, {.want_samples = true}).value();
  ASSERT_EQ(profile.samples.size(), 3u);
  EXPECT_EQ(profile.samples.time_ns[1], 2'000'000'000u);
  EXPECT_EQ(profile.samples.cpu[0], 3u);
  EXPECT_EQ(profile.samples.column[2], 1u);
  EXPECT_EQ(profile.threads[profile.samples.thread[0]].tid, 11u);
  EXPECT_EQ(path_of(profile, profile.samples.node[0]), "cc1;main;parse");
}

TEST(ScriptText, SamplesAreOfTheThreadUnderTheNameThatItHad) {
  std::string text;
  double time = 1;
  for (std::string_view task :
       {"worker  10/11", "sh  10/10", "cc1  10/10", "worker  10/11", "helper  10/12", "sh  10/10"})
    text +=
        fmt::format("{} [000] {:.6f}:  1 cycles:\n\t  4f4f parse (/usr/lib/cc1)\n\n", task, time++);
  StackProfile profile = read_text(text, {.want_samples = true}).value();
  EXPECT_THAT(profile.samples.thread, ElementsAre(0, 1, 2, 0, 3, 1));
  std::vector<std::string> threads;
  for (const StackThread& thread : profile.threads)
    threads.push_back(
        fmt::format("{} of {}", profile.text(thread.name), profile.text(thread.process_name)));
  EXPECT_THAT(threads, ElementsAre("worker of ", "sh of sh", "cc1 of cc1", "helper of cc1"));
}

TEST(ScriptText, SamplesAreChosen) {
  EXPECT_THAT(lines_of(read_text(kText, {.events = {"instructions"}}).value()),
              ElementsAre("make;main 7"));
  SampleFilter one_cpu;
  one_cpu.cpus = {1};
  EXPECT_THAT(lines_of(read_text(kText, {.value = StackValue::kSamples}, one_cpu).value()),
              ElementsAre("cc1;main;parse 1"));
  SampleFilter late;
  late.times = {{1'500'000'000, UINT64_MAX}};
  EXPECT_THAT(lines_of(read_text(kText, {}, late).value()), ElementsAre("cc1;main;parse 50"));
  auto missing = read_text(kText, {.events = {"faults"}});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("cycles, instructions"));
}

TEST(ScriptText, SamplesWithoutCallChainsStandInOneLine) {
  StackProfile profile =
      read_text(
          "     cc1  11 [003] 1.0:  1 cycles:  4f4f parse+0x3df (/usr/lib/cc1)\n"
          "    dead  11 [003] 1.0:  1 faults:  4f4f parse+0x3df (/usr/lib/cc1)\n"
          "    dead  11 [003] 1.0:  1 cycles:  4f4f parse+0x3df (/usr/lib/cc1)\n",
          {.events = {"cycles"}})
          .value();
  EXPECT_THAT(lines_of(profile), ElementsAre("cc1;parse 1", "dead;parse 1"));
}

TEST(ScriptText, NothingButCallChains) {
  EXPECT_THAT(lines_of(read_text("\t4f4f parse (/x)\n\td780 main (/x)\n\n").value()),
              ElementsAre("main;parse 1"));
}

TEST(ScriptText, TasksWithoutNames) {
  constexpr std::string_view kNameless = "  11 1.0: cycles:\n\t40 f (/x)\n\n";
  EXPECT_THAT(lines_of(read_text(kNameless).value()), ElementsAre("f 1"));
  EXPECT_THAT(lines_of(read_text(kNameless, {.spelling = {.tid = true}}).value()),
              ElementsAre("-?/11;f 1"));
}

TEST(ScriptText, EventsWithoutCallChains) {
  StackProfile profile = read_text(
                             "cc1 11 [003] 1.0: sched:sched_switch: prev_comm=cc1\n"
                             "cc1 11 [003] 1.0: sched:sched_switch: prev_comm=cc1\n")
                             .value();
  EXPECT_THAT(lines_of(profile), ElementsAre("cc1 2"));
}

TEST(ScriptText, NamesOfTasksMayLookLikeAddresses) {
  StackProfile profile = read_text(
                             "      dd 11 [003] 1.0: raw_syscalls:sys_enter: NR 12 (0, 7ff, 0)\n"
                             "      dd 11 [003] 1.0: raw_syscalls:sys_enter: NR 9 (0, 2000)\n")
                             .value();
  EXPECT_THAT(lines_of(profile), ElementsAre("dd 2"));
}

TEST(ScriptText, LinesOfSourceFollowTheirFrames) {
  constexpr std::string_view kLines =
      "cc1 11 1.0: cycles:\n\t4f4f parse (/x)\n  p.c:7\n\td780 main (/x)\n  p.c:9\n\n"
      "cc1 11 1.0: cycles:\n\t4f4f parse (/x)\n  p.c:8\n\td780 main (/x)\n  p.c:9\n\n";
  EXPECT_THAT(lines_of(read_text(kLines).value()), ElementsAre("cc1;main;parse 2"));
  EXPECT_THAT(lines_of(read_text(kLines, {.spelling = {.lines = true}}).value()),
              ElementsAre("cc1;main:p.c:9;parse:p.c:7 1", "cc1;main:p.c:9;parse:p.c:8 1"));
}

TEST(ScriptText, InlinedStandsBehindTheLineOfSource) {
  constexpr std::string_view kText2 =
      "cc1 11 1.0: cycles:\n\t40 skip+0x3\n  p.c:7 (inlined)\n\t40 parse (/x)\n  x[40]\n\n";
  EXPECT_THAT(lines_of(read_text(kText2, {.spelling = {.inlined = true}}).value()),
              ElementsAre("cc1;parse;skip_[i] 1"));
  EXPECT_THAT(lines_of(read_text(kText2, {.spelling = {.inlined = true, .lines = true}}).value()),
              ElementsAre("cc1;parse;skip:p.c:7_[i] 1"));
}

TEST(ScriptText, ACutSampleIsALoss) {
  LossLedger losses;
  ScriptTextReader reader("test", {}, {}, losses);
  constexpr std::string_view kSample = "a 1 1.0: cycles:\n\t40 f (/x)\n";
  reader.feed(kSample);
  reader.feed("\n");
  reader.feed(kSample);
  EXPECT_THAT(lines_of(std::move(reader).finish().value()), ElementsAre("a;f 1"));
  EXPECT_EQ(losses.count(LossKind::k_truncated_file), kSample.size());
}

TEST(ScriptText, WithoutSamplesIsAnError) {
  auto profile = read_text("# captured on: today\n\n");
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().message, HasSubstr("test: no samples"));
}

TEST(ScriptText, LongLinesAreNotKept) {
  std::string text(kText);
  std::string noise(3 << 20, 'x');
  text = "cc1 1 " + noise + "\n\n" + text;
  LossLedger losses;
  ScriptTextReader reader("test", {}, {}, losses);
  for (size_t at = 0; at < text.size(); at += 4096)
    reader.feed(std::string_view(text).substr(at, 4096));
  EXPECT_THAT(lines_of(std::move(reader).finish().value()), ElementsAre("cc1;main;parse 150"));
}

TEST(ScriptText, IsKnownByItsFirstLines) {
  EXPECT_TRUE(looks_like_script_text(kText));
  EXPECT_TRUE(looks_like_script_text("\n\ncc1 11 cycles: \n"));
  EXPECT_TRUE(looks_like_script_text("\t  40 main (/bin/x)\n"));
  EXPECT_FALSE(looks_like_script_text("main;read 12\nmain 3\n"));
  EXPECT_FALSE(looks_like_script_text("# a note\nswapper;a: b 12 13\n"));
  EXPECT_FALSE(looks_like_script_text(""));
}

}  // namespace
}  // namespace sonde
