#include "probe/probe_definition.h"

#include <gmock/gmock.h>

#include <ctime>

#include "elf/elf_builder.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string sdt_note(uint64_t location, uint64_t semaphore, std::string_view name,
                     std::string_view arguments) {
  ByteBuilder content;
  for (uint64_t word : {location, uint64_t{0}, semaphore}) content.u64(word);
  for (std::string_view text : {std::string_view("app"), name, arguments}) {
    content.text(text);
    content.u8(0);
  }
  ByteBuilder note;
  note.u32(8);
  note.u32(static_cast<uint32_t>(content.size()));
  note.u32(3);
  note.text(std::string_view("stapsdt\0", 8));
  note.bytes(content.view());
  note.zeros((4 - content.size() % 4) % 4);
  return std::string(as_text(note.view()));
}

/// Code at 0x1000 and data at 0x5000, with different offsets in the file.
ElfFile object(std::string notes) {
  ElfBuilder elf;
  uint32_t text = elf.section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
                              std::string(64, '\x90'));
  uint32_t data = elf.section(".probes", SHT_PROGBITS, SHF_ALLOC, 0x5000, std::string(16, '\0'));
  elf.load(text, true);
  elf.load(data, false);
  elf.symbols({{"main", 0x1010, 16, text},
               {"table", 0x5000, 8, data, STT_OBJECT},
               {"imported", 0, 0, SHN_UNDEF}});
  elf.section(".note.stapsdt", SHT_NOTE, 0, 0, std::move(notes));
  return std::move(*ElfFile::own(elf.build(), "app"));
}

uint64_t offset(const ElfFile& file, uint64_t address) {
  return file.segments().offset_of(ElfAddr(address))->value;
}

TEST(ProbeDefinition, IsALineForTracefs) {
  EXPECT_EQ(probe_definition("g", "e", {.object = "/bin/x", .offset = FileOffset(0x1090)}),
            "p:g/e /bin/x:0x1090");
  EXPECT_EQ(probe_definition("g", "e",
                             {.object = "/bin/x",
                              .offset = FileOffset(0x10),
                              .semaphore = FileOffset(0x3020),
                              .at_return = true,
                              .arguments = {"arg1=%bx:s32", "arg2=+8(%sp):u64"}}),
            "r:g/e /bin/x:0x10(0x3020) arg1=%bx:s32 arg2=+8(%sp):u64");
  EXPECT_EQ(probe_definition("g", "e", {.symbol = "ext4:ext4_write+16"}),
            "p:g/e ext4:ext4_write+16");
}

TEST(ProbeDefinition, IsOneLineOfWordsOrRefused) {
  ProbePlace place{.object = "/bin/x", .offset = FileOffset(0x10), .arguments = {"arg1=%bx:s32"}};
  EXPECT_TRUE(check_definition("sdt_qemu-x", "a.b", place));
  EXPECT_TRUE(check_definition("g", "e", {.symbol = "ext4:ext4_write+16"}));
  for (std::string_view name : {"a\nb", "a b", "", "$(id)", "a/b", "a\x1b"}) {
    EXPECT_FALSE(check_definition(name, "e", place)) << name;
    EXPECT_FALSE(check_definition("g", name, place)) << name;
  }
  // A file of this name would define a second probe.
  for (std::string object : {"/tmp/x:0x1\np:g/f /bin/sh", "/tmp/a b", "/tmp/a\tb", "/tmp/\x7f"}) {
    Result<> checked = check_definition("g", "e", {.object = object});
    ASSERT_FALSE(checked) << object;
    EXPECT_EQ(checked.error().message.find_first_of("\n\t\x7f"), std::string::npos);
    EXPECT_FALSE(check_definition("g", "e", {.symbol = object})) << object;
  }
  place.arguments = {"arg1=%bx\np:g/f"};
  EXPECT_FALSE(check_definition("g", "e", place));
}

TEST(FindSdtProbes, SaysWhichNamesAreForMachines) {
  ElfFile file =
      object(sdt_note(0x1010, 0, "na`id`\x1b]0;x\x07", "") + sdt_note(0x1020, 0, "start", ""));
  std::vector<SdtProbe> all = find_sdt_probes(file, "/bin/app", "*", "*");
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_FALSE(all[0].has_plain_name());
  EXPECT_TRUE(all[1].has_plain_name());
  std::string message = names_not_plain("/bin/app", {all[0].event_name(), "other"}).message;
  EXPECT_THAT(message, testing::HasSubstr(R"('sdt_app:na`id`\x1b]0;x\x07' and 1 more)"));
}

TEST(FindFunction, GivesThePlaceInTheFile) {
  ElfFile file = object("");
  EXPECT_EQ(find_function(file, "main")->value, offset(file, 0x1010));
  for (std::string_view name : {"table", "imported", "nosuch", ""})
    EXPECT_EQ(find_function(file, name).error().code, ErrorCode::kNotFound) << name;
}

TEST(FindSdtProbes, GivesPlacesAndArguments) {
  ElfFile file = object(sdt_note(0x1010, 0x5002, "start", "-4@%ebx 8f@%xmm0 8@%r14") +
                        sdt_note(0x1020, 0, "stop", "") + sdt_note(0x9000, 0, "nowhere", "") +
                        sdt_note(0x1020, 0, "stop", ""));
  std::vector<SdtProbe> all = find_sdt_probes(file, "/bin/app", "a*", "*");
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].provider, "app");
  EXPECT_EQ(all[0].name, "start");
  EXPECT_EQ(all[0].place.object, "/bin/app");
  EXPECT_EQ(all[0].place.offset.value, offset(file, 0x1010));
  EXPECT_EQ(all[0].place.semaphore.value, offset(file, 0x5002));
  // Arguments keep their numbers, even if an earlier one cannot be fetched.
  EXPECT_THAT(all[0].place.arguments, ElementsAre("arg1=%bx:s32", "arg3=%r14:u64"));
  EXPECT_THAT(all[0].not_fetched, ElementsAre("8f@%xmm0"));
  EXPECT_EQ(all[1].name, "stop");
  EXPECT_EQ(all[1].place.semaphore.value, 0u);
  EXPECT_THAT(find_sdt_probes(file, "/bin/app", "app", "st?p"), SizeIs(1));
  EXPECT_THAT(find_sdt_probes(file, "/bin/app", "other", "*"), IsEmpty());
}

TEST(FindSdtProbes, AnObjectWithEndlessNotesCostsLittle) {
  std::string notes;
  constexpr int kNotes = 70'000;
  for (int i = 0; i < kNotes; ++i) notes += sdt_note(0x1010, 0, fmt::format("n{}", i), "");
  ElfFile file = object(std::move(notes));
  auto begin = std::clock();
  EXPECT_THAT(find_sdt_probes(file, "/bin/app", "*", "*"), SizeIs(65'536));
  // Each compared with all others: tens of seconds.
  EXPECT_LT(std::clock() - begin, 5 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace sonde
