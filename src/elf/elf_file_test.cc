#include "elf/elf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>
#include <lzma.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>

#include "elf/build_id.h"
#include "elf/elf_builder.h"
#include "elf/plt.h"

namespace sonde {
namespace {

using testing::ElementsAre;

constexpr uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;

std::vector<std::string> symbol_names(const ElfFile& file, SymbolSection which) {
  std::vector<std::string> names;
  file.for_each_symbol(which, [&](const ElfSymbol& s) { names.emplace_back(s.name); });
  return names;
}

struct Kind {
  bool is_64bit;
  ByteOrder order;
};

class EveryKind : public testing::TestWithParam<Kind> {};

std::vector<std::byte> sample_object(Kind kind) {
  ElfBuilder elf(kind.is_64bit, kind.order);
  uint32_t text = elf.section(".text", SHT_PROGBITS, kCode, 0x401000, std::string(64, '\x90'));
  uint32_t data =
      elf.section(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x403010, "12345678", 0, 0, 100);
  elf.load(text, true);
  elf.load(data, false);
  elf.build_id("0123456789abcdefghij");
  elf.symbols({{"main", 0x401000, 16, text}, {"helper", 0x401010, 8, text, STT_FUNC, STB_WEAK}});
  return elf.build();
}

TEST_P(EveryKind, ReadsHeadersSectionsSegmentsAndSymbols) {
  ElfFile file = ElfFile::own(sample_object(GetParam()), "sample").value();
  EXPECT_EQ(file.is_64bit(), GetParam().is_64bit);
  EXPECT_EQ(file.order(), GetParam().order);
  EXPECT_EQ(file.machine(), EM_X86_64);
  EXPECT_EQ(file.build_id(), "0123456789abcdefghij");
  const ElfSection* text = file.section(".text");
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text->addr, 0x401000U);
  EXPECT_EQ(file.content(*text).size(), 64U);
  EXPECT_EQ(file.section(".none"), nullptr);
  EXPECT_THAT(symbol_names(file, SymbolSection::kSymtab), ElementsAre("main", "helper"));
  std::vector<ElfSymbol> symbols = file.symbols(SymbolSection::kSymtab);
  ASSERT_EQ(symbols.size(), 3U);
  EXPECT_EQ(symbols[2].value, 0x401010U);
  EXPECT_EQ(symbols[2].size, 8U);
  EXPECT_EQ(symbols[2].binding, STB_WEAK);
  EXPECT_EQ(symbols[2].type, STT_FUNC);
  EXPECT_EQ(symbols[2].section, text->index);

  EXPECT_EQ(file.segments().addr_of(FileOffset(text->offset + 5)), ElfAddr(0x401005));
  EXPECT_EQ(file.segments().offset_of(ElfAddr(0x401005)), FileOffset(text->offset + 5));
  EXPECT_TRUE(file.segments().offset_of(ElfAddr(0x403020)).has_value());  // .bss after .data
  EXPECT_FALSE(file.segments().offset_of(ElfAddr(0x404000)).has_value());
  EXPECT_FALSE(file.segments().addr_of(FileOffset(0x100000)).has_value());
}

// Tries every prefix, and every byte set to several values: errors and missing parts are fine;
// crashes are what this would reveal (under the sanitizers).
TEST_P(EveryKind, SurvivesDamage) {
  std::vector<std::byte> good = sample_object(GetParam());
  auto walk = [](const std::vector<std::byte>& bytes) {
    auto file = ElfFile::own(bytes, "damaged");
    if (!file) return;
    size_t length = 0;
    for (SymbolSection which : {SymbolSection::kSymtab, SymbolSection::kDynsym})
      file->for_each_symbol(which, [&](const ElfSymbol& s) { length += std::strlen(s.name); });
    for (const ElfSection& section : file->sections())
      length +=
          section.name.size() + file->content(section).size() + file->relocations(section).size();
    length += plt_entries(*file).size();
    EXPECT_LT(length, 1000000U);
  };
  for (size_t size = 0; size < good.size(); ++size)
    walk({good.begin(), good.begin() + static_cast<ptrdiff_t>(size)});
  for (size_t at = 0; at < good.size(); ++at)
    for (int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::vector<std::byte> bad = good;
      bad[at] = static_cast<std::byte>(value);
      walk(bad);
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind,
                         testing::Values(Kind{true, ByteOrder::kLittle},
                                         Kind{true, ByteOrder::kBig},
                                         Kind{false, ByteOrder::kLittle},
                                         Kind{false, ByteOrder::kBig}));

TEST(ElfFile, RefusesWhatIsNotElf) {
  EXPECT_EQ(ElfFile::view({}, "empty").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(ElfFile::view(as_bytes("#!/bin/sh\necho a script, not an object\n"), "script")
                .error()
                .message,
            "script is not an ELF file");
  EXPECT_EQ(ElfFile::open("/nonexistent/object").error().code, ErrorCode::kNotFound);
}

TEST(ElfFile, ReadsDebugLink) {
  ElfBuilder elf;
  elf.section(".gnu_debuglink", SHT_PROGBITS, 0, 0, std::string("a.debug\0\x78\x56\x34\x12", 12));
  ElfFile file = ElfFile::own(elf.build(), "linked").value();
  ASSERT_TRUE(file.debug_link());
  EXPECT_EQ(file.debug_link()->name, "a.debug");
  EXPECT_EQ(file.debug_link()->crc, 0x12345678U);
}

std::string packed_xz(Bytes plain) {
  std::string packed(plain.size() + 1024, '\0');
  size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(
                6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(plain.data()),
                plain.size(), reinterpret_cast<uint8_t*>(packed.data()), &size, packed.size()),
            LZMA_OK);
  return packed.substr(0, size);
}

TEST(ElfFile, UnpacksMiniDebugInfo) {
  ElfBuilder inner;
  uint32_t text = inner.section(".text", SHT_NOBITS, kCode, 0x1000, "", 0, 0, 64);
  inner.symbols({{"hidden_helper", 0x1000, 16, text, STT_FUNC, STB_LOCAL}});
  std::vector<std::byte> plain = inner.build();
  std::string packed = packed_xz(plain);
  for (bool damaged : {false, true}) {
    if (damaged) packed.resize(packed.size() / 2);
    ElfBuilder outer;
    outer.section(".gnu_debugdata", SHT_PROGBITS, 0, 0, packed);
    ElfFile file = ElfFile::own(outer.build(), "outer").value();
    auto mini = file.mini_debug_info();
    ASSERT_EQ(mini.has_value(), !damaged);
    if (mini) {
      EXPECT_THAT(symbol_names(*mini, SymbolSection::kSymtab), ElementsAre("hidden_helper"));
    }
  }
}

std::string packed_gzip(Bytes plain) {
  std::string packed(plain.size() + 1024, '\0');
  libdeflate_compressor* packer = libdeflate_alloc_compressor(6);
  packed.resize(
      libdeflate_gzip_compress(packer, plain.data(), plain.size(), packed.data(), packed.size()));
  libdeflate_free_compressor(packer);
  return packed;
}
/// Without its size, as when a pipe is compressed.
std::string packed_zstd(Bytes plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  ZSTD_CCtx* packer = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(packer, ZSTD_c_contentSizeFlag, 0);
  packed.resize(ZSTD_compress2(packer, packed.data(), packed.size(), plain.data(), plain.size()));
  ZSTD_freeCCtx(packer);
  return packed;
}

TEST(ElfFile, UnpacksModulesOfTheKernel) {
  ElfBuilder elf;
  uint32_t text = elf.section(".text", SHT_PROGBITS, kCode, 0, std::string(200'000, '\0'));
  elf.symbols({{"nfsd_init", 0, 16, text}});
  std::vector<std::byte> plain = elf.build();
  std::string directory = testing::TempDir();
  for (const auto& [ending, packed] :
       {std::pair("xz", packed_xz(plain)), std::pair("gz", packed_gzip(plain)),
        std::pair("zst", packed_zstd(plain))}) {
    SCOPED_TRACE(ending);
    auto open = [&](const std::string& name, std::string_view content) {
      std::string path = directory + name + ending;
      std::ofstream(path, std::ios::binary) << content;
      auto file = ElfFile::open(path);
      std::filesystem::remove(path);
      return file;
    };
    auto file = open("nfsd.ko.", packed);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_THAT(symbol_names(*file, SymbolSection::kSymtab), ElementsAre("nfsd_init"));
    EXPECT_TRUE(std::ranges::equal(file->bytes(), plain));
    for (size_t size = 0; size < packed.size(); size += 1 + size / 3)
      EXPECT_FALSE(open("nfsd.ko.", packed.substr(0, size))) << size;
  }
}

std::string relocation(uint64_t slot, uint64_t symbol, uint64_t type) {
  ByteBuilder out(ByteOrder::kLittle);
  out.u64(slot);
  out.u64(symbol << 32 | type);
  out.u64(0);
  return std::string(as_text(out.view()));
}

TEST(Plt, DecodesX86EntriesInAnyOrderOfRelocations) {
  ElfBuilder elf;
  // Slots at 0x4000 (puts) and 0x4008 (exit); entries in reverse order, the second with endbr64 and
  // bnd.
  uint32_t dynsym = elf.symbols({{"puts"}, {"exit"}}, true);
  elf.section(".rela.plt", SHT_RELA, 0, 0, relocation(0x4000, 1, 7) + relocation(0x4008, 2, 7),
              dynsym, 24);
  std::string first("\xff\x25\x02\x30\x00\x00", 6);  // at 0x1000: jmp *0x3002(%rip) = 0x4008
  std::string second("\xf3\x0f\x1e\xfa\xf2\xff\x25\xe5\x2f\x00\x00",
                     11);                                       // at 0x1010: next is 0x101b
  std::string lazy("\xf3\x0f\x1e\xfa\x68\x01\x00\x00\x00", 9);  // push $1: exit
  first.resize(16, '\x90');
  second.resize(16, '\x90');
  lazy.resize(16, '\x90');
  elf.section(".plt", SHT_PROGBITS, kCode, 0x1000, first + second + lazy, 0, 16);
  ElfFile file = ElfFile::own(elf.build(), "plt").value();
  std::vector<PltEntry> entries = plt_entries(file);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].start, ElfAddr(0x1000));
  EXPECT_STREQ(entries[0].name, "exit");
  EXPECT_EQ(entries[1].start, ElfAddr(0x1010));
  EXPECT_STREQ(entries[1].name, "puts");
  EXPECT_STREQ(entries[2].name, "exit");
}

TEST(Plt, DecodesArm64) {
  ElfBuilder elf(true, ByteOrder::kLittle, EM_AARCH64);
  uint32_t dynsym = elf.symbols({{"malloc"}, {"free"}}, true);
  elf.section(".rela.plt", SHT_RELA, 0, 0,
              relocation(0x11018, 1, 1026) + relocation(0x11020, 2, 1026), dynsym, 24);
  ByteBuilder code(ByteOrder::kLittle);
  code.zeros(32);  // the header
  for (uint32_t slot : {0x18U, 0x20U}) {
    code.u32(0x90000090);                     // adrp x16, +0x10 pages
    code.u32(0xf9400211 | (slot / 8) << 10);  // ldr x17, [x16, #slot]
    code.u32(0x91000210);                     // add
    code.u32(0xd61f0220);                     // br x17
  }
  elf.section(".plt", SHT_PROGBITS, kCode, 0x1000, std::string(as_text(code.view())), 0, 16);
  ElfFile file = ElfFile::own(elf.build(), "plt").value();
  std::vector<PltEntry> entries = plt_entries(file);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].start, ElfAddr(0x1020));
  EXPECT_EQ(entries[0].size, 16U);
  EXPECT_STREQ(entries[0].name, "malloc");
  EXPECT_EQ(entries[1].start, ElfAddr(0x1030));
  EXPECT_STREQ(entries[1].name, "free");
}

TEST(BuildId, IsFoundAmongOtherNotes) {
  ByteBuilder notes;
  notes.u32(4), notes.u32(5), notes.u32(0x100), notes.text(std::string_view("Xen\0", 4));
  notes.text("12345"), notes.zeros(3);
  notes.u32(4), notes.u32(3), notes.u32(NT_GNU_BUILD_ID), notes.text(std::string_view("GNU\0", 4));
  notes.text("abc"), notes.zeros(1);
  EXPECT_EQ(build_id_in_notes(notes.view()), "abc");
  EXPECT_EQ(build_id_in_notes(notes.view().first(30)), "");
}

TEST(BuildId, ComparesPaddedIds) {
  EXPECT_TRUE(same_build_id("abcd", "abcd"));
  EXPECT_TRUE(same_build_id(std::string_view("abcd\0\0\0\0", 8), "abcd"));
  EXPECT_FALSE(same_build_id("abcde", "abcd"));
  EXPECT_FALSE(same_build_id("abce", "abcd"));
  EXPECT_TRUE(same_build_id("0123456789abcdefghijKLMN", "0123456789abcdefghij"));
}

}  // namespace
}  // namespace sonde
