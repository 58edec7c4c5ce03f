#include "elf/sdt_notes.h"

#include <gmock/gmock.h>

#include "elf/elf_builder.h"

namespace sonde {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

struct Probe {
  uint64_t location, base, semaphore;
  std::string_view provider, name, arguments;
};

void put(ByteBuilder& out, bool is_64bit, const Probe& probe) {
  ByteBuilder content(out.order());
  for (uint64_t word : {probe.location, probe.base, probe.semaphore}) {
    if (is_64bit)
      content.u64(word);
    else
      content.u32(static_cast<uint32_t>(word));
  }
  for (std::string_view text : {probe.provider, probe.name, probe.arguments}) {
    content.text(text);
    content.u8(0);
  }
  out.u32(8);
  out.u32(static_cast<uint32_t>(content.size()));
  out.u32(3);
  out.text(std::string_view("stapsdt\0", 8));
  out.bytes(content.view());
  out.zeros((4 - content.size() % 4) % 4);
}

ElfFile object(bool is_64bit, ByteOrder order, const std::vector<Probe>& probes,
               uint64_t base_now) {
  ByteBuilder notes(order);
  for (const Probe& probe : probes) put(notes, is_64bit, probe);
  ElfBuilder elf(is_64bit, order);
  elf.section(".note.stapsdt", SHT_NOTE, 0, 0, std::string(as_text(notes.view())));
  if (base_now != 0) elf.section(".stapsdt.base", SHT_PROGBITS, SHF_ALLOC, base_now, "x");
  return std::move(*ElfFile::own(elf.build(), "test"));
}

class SdtNotes : public testing::TestWithParam<std::pair<bool, ByteOrder>> {};

TEST_P(SdtNotes, TellProviderNameArgumentsAndPlaces) {
  auto [is_64bit, order] = GetParam();
  ElfFile file = object(is_64bit, order,
                        {{0x1090, 0x2008, 0, "app", "start", "-4@%ebx 8@%r14"},
                         {0x10a5, 0x2008, 0x3020, "app", "stop", ""}},
                        0x2008);
  std::vector<SdtNote> notes = sdt_notes(file);
  ASSERT_THAT(notes, SizeIs(2));
  EXPECT_EQ(notes[0].provider, "app");
  EXPECT_EQ(notes[0].name, "start");
  EXPECT_EQ(notes[0].arguments, "-4@%ebx 8@%r14");
  EXPECT_EQ(notes[0].location, ElfAddr(0x1090));
  EXPECT_EQ(notes[0].semaphore, ElfAddr(0));
  EXPECT_EQ(notes[1].name, "stop");
  EXPECT_EQ(notes[1].arguments, "");
  EXPECT_EQ(notes[1].semaphore, ElfAddr(0x3020));
}

INSTANTIATE_TEST_SUITE_P(WordsAndOrders, SdtNotes,
                         testing::Values(std::pair(true, ByteOrder::kLittle),
                                         std::pair(true, ByteOrder::kBig),
                                         std::pair(false, ByteOrder::kLittle)));

TEST(SdtNotesOfPrelinkedFiles, MoveWithTheirBase) {
  ElfFile file = object(true, ByteOrder::kLittle, {{0x1090, 0x2000, 0x3020, "p", "n", ""}}, 0x5000);
  std::vector<SdtNote> notes = sdt_notes(file);
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes[0].location, ElfAddr(0x4090));
  EXPECT_EQ(notes[0].semaphore, ElfAddr(0x6020));
}

TEST(SdtNotesOfDamagedFiles, AreLeftOut) {
  ByteBuilder notes;
  put(notes, true, {1, 0, 0, "p", "whole", ""});
  put(notes, true, {1, 0, 0, "", "without provider", ""});
  put(notes, true, {1, 0, 0, "p", "cut", ""});
  // The last note is cut in any case: its padding is not part of it.
  for (size_t size = 0; size + 4 < notes.size(); ++size) {
    ElfBuilder elf;
    elf.section(".note.stapsdt", SHT_NOTE, 0, 0, std::string(as_text(notes.view().first(size))));
    ElfFile file = std::move(*ElfFile::own(elf.build(), "test"));
    for (const SdtNote& note : sdt_notes(file)) EXPECT_EQ(note.name, "whole");
  }
  ElfFile none = std::move(*ElfFile::own(ElfBuilder().build(), "test"));
  EXPECT_THAT(sdt_notes(none), IsEmpty());
}

}  // namespace
}  // namespace sonde
