#include "bpf/program_section.h"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using Kind = ProgramSection::Kind;
using testing::HasSubstr;

ProgramSection parse(std::string_view name) {
  Result<ProgramSection> section = parse_program_section(name);
  EXPECT_TRUE(section) << name << ": " << (section ? "" : section.error().message);
  return section.value_or(ProgramSection{});
}

TEST(ProgramSection, NamesATracepoint) {
  ProgramSection expected{.kind = Kind::kTracepoint, .system = "sched", .event = "sched_switch"};
  for (std::string_view name :
       {"sched:sched_switch", "tracepoint/sched/sched_switch", "tp/sched/sched_switch"})
    EXPECT_EQ(parse(name), expected) << name;
}

TEST(ProgramSection, LeavesADefinitionInPerfsWordsToOthers) {
  EXPECT_EQ(parse("func=kmem_cache_alloc gfp"),
            (ProgramSection{.kind = Kind::kProbe, .definition = "func=kmem_cache_alloc gfp"}));
  EXPECT_EQ(
      parse("exec=/usr/bin/x;\nentry=main\targc->x"),
      (ProgramSection{
          .kind = Kind::kProbe, .object = "/usr/bin/x", .definition = "entry=main\targc->x"}));
  EXPECT_EQ(parse("module=ext4; inlines=no; force=yes; w=ext4_write+0x10"),
            (ProgramSection{.kind = Kind::kProbe,
                            .module = "ext4",
                            .definition = "w=ext4_write+0x10",
                            .no_inlines = true}));
  EXPECT_FALSE(parse("inlines=yes;done=main%return").no_inlines);
}

TEST(ProgramSection, NamesAProbeInLibbpfsWords) {
  EXPECT_EQ(
      parse("kprobe/tcp_sendmsg+8"),
      (ProgramSection{
          .kind = Kind::kProbe, .event = "tcp_sendmsg", .function = "tcp_sendmsg", .offset = 8}));
  EXPECT_EQ(parse("uretprobe//usr/bin/x:main"), (ProgramSection{.kind = Kind::kProbe,
                                                                .event = "main",
                                                                .object = "/usr/bin/x",
                                                                .function = "main",
                                                                .at_return = true}));
}

TEST(ProgramSection, LeavesWhatIsNoPerfEventToLibbpf) {
  for (std::string_view name : {"raw_tp/sys_enter", "tp_btf/sched_switch", "usdt//bin/x:a:b"})
    EXPECT_EQ(parse(name).kind, Kind::kAttachedByLibbpf) << name;
}

TEST(ProgramSection, SaysWhatItDoesNotTake) {
  auto message = [](std::string_view name) {
    Result<ProgramSection> section = parse_program_section(name);
    EXPECT_FALSE(section) << name;
    return section ? std::string() : section.error().message;
  };
  EXPECT_THAT(message("kprobe/main:12"), HasSubstr("lines"));
  EXPECT_THAT(message("kprobe/main%foo"), HasSubstr("%return"));
  EXPECT_THAT(message("kprobe/main+y"), HasSubstr("number"));
  EXPECT_THAT(message("exec=/x;"), HasSubstr("function"));
  EXPECT_THAT(message("bogus=1;x=main"), HasSubstr("bogus=1"));
  EXPECT_THAT(message("whatever"), HasSubstr("whatever"));
  EXPECT_THAT(message("uprobe/main"), HasSubstr("PATH:FUNCTION"));
  EXPECT_THAT(message(""), HasSubstr("section"));
}

}  // namespace
}  // namespace sonde
