#include "stacks/script_text_lines.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

ScriptSampleLine sample(std::string_view line) {
  auto parsed = parse_sample_line(line, true);
  EXPECT_TRUE(parsed) << line;
  return parsed.value_or(ScriptSampleLine());
}

TEST(ScriptSampleLine, HasAllFields) {
  ScriptSampleLine line = sample("cc1  4152/4153 [003] 75695.008945:      17736 cycles:u: ");
  EXPECT_EQ(line.comm, "cc1");
  EXPECT_EQ(line.pid, 4152u);
  EXPECT_EQ(line.tid, 4153u);
  EXPECT_EQ(line.cpu, 3u);
  EXPECT_EQ(line.time_ns, 75695008945000u);
  EXPECT_EQ(line.period, 17736u);
  EXPECT_EQ(line.event, "cycles:u");
  EXPECT_EQ(line.rest, "");
  EXPECT_TRUE(line.is_sample);
}

TEST(ScriptSampleLine, HasFewerFields) {
  EXPECT_EQ(sample("node-v011 31912 cpu-clock: ").tid, 31912u);
  EXPECT_EQ(sample("node-v011 31912 cpu-clock: ").event, "cpu-clock");
  EXPECT_EQ(sample("swapper     0 [001]  1333.768770: ").cpu, 1u);
  EXPECT_EQ(sample("  12.000000001:").time_ns, 12000000001u);
  EXPECT_EQ(sample("cc1 cycles:").comm, "cc1");
  EXPECT_EQ(sample("cc1 7 U 1.5: cycles:").time_ns, 1500000000u);
  EXPECT_EQ(parse_sample_line("cc1 4152", false).value().tid, 4152u);
  EXPECT_FALSE(parse_sample_line("cc1 4152", true));
}

TEST(ScriptSampleLine, NamesOfTasksHoldBlanksAndNumbers) {
  EXPECT_EQ(sample("V8 WorkerThread 12 345 [000] 1.5: cycles: ").comm, "V8 WorkerThread 12");
  EXPECT_EQ(sample("           (a) b  345 1.5:  1 cycles: 40 main (/bin/b)").comm, "(a) b");
  EXPECT_EQ(sample(":-1    -1 [000] 1.5: cycles: ").tid, UINT32_MAX);
}

TEST(ScriptSampleLine, KeepsWhatFollowsTheEvent) {
  ScriptSampleLine line = sample("java 12 [000] 1.5: sched:sched_switch: prev_comm=a ==> b");
  EXPECT_EQ(line.event, "sched:sched_switch");
  EXPECT_EQ(line.rest, "prev_comm=a ==> b");
  EXPECT_FALSE(sample("cc1 12 [000] 1.5: PERF_RECORD_MMAP2 12/12: [0x4000(0x1000)]").is_sample);
}

TEST(ScriptSampleLine, OtherLinesAreNone) {
  for (std::string_view line : {"", "   ", "main;read 12", "  file.c:12", "42"})
    EXPECT_FALSE(parse_sample_line(line, true)) << line;
}

ScriptFrameLine frame(std::string_view line) {
  auto parsed = parse_frame_line(line);
  EXPECT_TRUE(parsed) << line;
  return parsed.value_or(ScriptFrameLine());
}

TEST(ScriptFrameLine, HasItsParts) {
  ScriptFrameLine line = frame("\t    4f4f _dl_start+0xffff018fd5dce3df (/usr/lib/ld-2.24.so)\r");
  EXPECT_EQ(line.address, 0x4f4fu);
  EXPECT_EQ(line.function, "_dl_start");
  EXPECT_EQ(line.object, "/usr/lib/ld-2.24.so");
  EXPECT_EQ(line.kind, FrameKind::kUser);
  EXPECT_EQ(frame(" 40 [unknown] ([unknown])").function, "[unknown]");
  EXPECT_EQ(frame(" 40 main").function, "main");
  EXPECT_EQ(frame(" 40").function, "[unknown]");
}

TEST(ScriptFrameLine, NamesAndPathsHoldParentheses) {
  ScriptFrameLine line = frame(" 40 f(int (*)(char)) (/tmp/a b (deleted))");
  EXPECT_EQ(line.function, "f(int (*)(char))");
  EXPECT_EQ(line.object, "/tmp/a b (deleted)");
  line = frame(" 40 f(int) (/tmp/a(b)");
  EXPECT_EQ(line.function, "f(int)");
  EXPECT_EQ(line.object, "/tmp/a(b");
  EXPECT_EQ(frame(" 40 main (/bin/x+0x40)").object, "/bin/x");
}

TEST(ScriptFrameLine, KnowsItsKind) {
  EXPECT_EQ(frame(" 40 f (inlined)").kind, FrameKind::kInlined);
  EXPECT_EQ(frame(" 40 f (inlined)").object, "");
  EXPECT_EQ(frame(" ffffffff81000000 f ([kernel.kallsyms])").kind, FrameKind::kKernel);
  EXPECT_EQ(frame(" 7d8 f ([nf_conntrack_ipv4])").kind, FrameKind::kKernel);
  EXPECT_EQ(frame(" 7d8 f (/lib/modules/4.3.0/kernel/net/x.ko)").kind, FrameKind::kKernel);
  EXPECT_EQ(frame(" 8c3453 f (/lib/modules/4.3.0/build/vmlinux)").kind, FrameKind::kKernel);
  EXPECT_EQ(frame(" 40 f ([vdso])").kind, FrameKind::kUser);
  EXPECT_EQ(frame(" 40 f (/tmp/perf-19982.map)").kind, FrameKind::kJit);
  EXPECT_EQ(frame(" 40 f (/tmp/jitted-12-3.so)").kind, FrameKind::kJit);
  EXPECT_EQ(frame(" 40 f (/usr/lib/perf-tools.map)").kind, FrameKind::kUser);
}

TEST(ScriptFrameLine, MayStandBehindOtherFields) {
  EXPECT_EQ(place_in_sample_line("   40 main (/x)"), "40 main (/x)");
  EXPECT_EQ(place_in_sample_line("55ff     7f40 main (/x)"), "7f40 main (/x)");
  EXPECT_EQ(place_in_sample_line(
                "55ff  11868 |OP LOAD|TLB L1 or L2 hit|BLK  N/A    70     0   12da f g (/x)"),
            "12da f g (/x)");
  EXPECT_EQ(
      place_in_sample_line("55ff  1 |OP LOAD|BLK  N/A  70   0 ffffffffa423d68e [unknown] (/x)"),
      "ffffffffa423d68e [unknown] (/x)");
  EXPECT_EQ(place_in_sample_line("prev_comm=a (b)"), "prev_comm=a (b)");
  EXPECT_EQ(place_in_sample_line("12  "), "12  ");
}

TEST(ScriptFrameLine, OtherLinesAreNone) {
  for (std::string_view line : {"", " file.c:12", " main (/bin/x)", " 12345678901234567 main"})
    EXPECT_FALSE(parse_frame_line(line)) << line;
}

}  // namespace
}  // namespace sonde
