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

TEST(ProgramSection, NamesAProbeInPerfsWords) {
  EXPECT_EQ(
      parse("func=kmem_cache_alloc"),
      (ProgramSection{.kind = Kind::kProbe, .event = "func", .function = "kmem_cache_alloc"}));
  EXPECT_EQ(
      parse("exec=/usr/bin/x;\nentry=main"),
      (ProgramSection{
          .kind = Kind::kProbe, .event = "entry", .object = "/usr/bin/x", .function = "main"}));
  EXPECT_EQ(parse("module=ext4; inlines=no; w=ext4_write+0x10"),
            (ProgramSection{.kind = Kind::kProbe,
                            .event = "w",
                            .module = "ext4",
                            .function = "ext4_write",
                            .offset = 16}));
  EXPECT_EQ(parse("exec=/x;f.part.0%return").event, "f_part_0");
  EXPECT_TRUE(parse("exec=/x;done=main%return").at_return);
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
  EXPECT_THAT(message("lock=__lock_page page->flags"), HasSubstr("struct pt_regs"));
  EXPECT_THAT(message("x=main:12"), HasSubstr("lines"));
  EXPECT_THAT(message("x=main%foo"), HasSubstr("%return"));
  EXPECT_THAT(message("x=main+y"), HasSubstr("number"));
  EXPECT_THAT(message("x="), HasSubstr("function"));
  EXPECT_THAT(message("bogus=1;x=main"), HasSubstr("bogus=1"));
  EXPECT_THAT(message("a-b=main"), HasSubstr("no name"));
  EXPECT_THAT(message("whatever"), HasSubstr("whatever"));
  EXPECT_THAT(message("uprobe/main"), HasSubstr("PATH:FUNCTION"));
  EXPECT_THAT(message(""), HasSubstr("section"));
}

}  // namespace
}  // namespace sonde
