#include "symbol/kallsyms.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "symbol/generated_name.h"
#include "symbol/kallsyms_lines.h"
#include "symbol/perf_map.h"

namespace sonde {
namespace {

using testing::ElementsAre;

TEST(Kallsyms, ReadsKernelModulesAndPrograms) {
  Kallsyms kallsyms = Kallsyms::parse(
      "ffffffff81000000 T _stext\n"
      "ffffffff81000000 T _text\n"
      "ffffffff81000100 t helper\n"
      "ffffffff81000180 W weak_one\n"
      "ffffffff81200000 R __param\n"
      "ffffffff81300010 T last_of_kernel\n"
      "ffffffffc0a01000 t nfsd_init\t[nfsd]\n"
      "ffffffffc0a01040 T $x\t[nfsd]\n"
      "ffffffffc0a01080 T nfsd_exit\t[nfsd]\n"
      "ffffffffc0b00000 t bpf_prog_6deef7357e7b4530_x\t[bpf]\n");
  EXPECT_FALSE(kallsyms.restricted());
  EXPECT_EQ(kallsyms.bad_lines(), 0U);
  EXPECT_THAT(kallsyms.modules(), ElementsAre("[kernel.kallsyms]", "[nfsd]", "[bpf]"));
  const SymbolTable& table = kallsyms.table();
  EXPECT_EQ(table.find(0xffffffff81000000)->name(),
            "_text");  // fewer letters lose, but so do more underscores
  EXPECT_EQ(table.find(0xffffffff81000100)->end, 0xffffffff81000180);
  EXPECT_EQ(table.find(0xffffffff81000190)->binding, STB_WEAK);
  EXPECT_EQ(table.find(0xffffffff81300010)->end, 0xffffffff81302000);  // not up to the first module
  const Symbol* init = table.find(0xffffffffc0a01050);
  ASSERT_NE(init, nullptr);
  EXPECT_EQ(init->name(), "nfsd_init");
  EXPECT_EQ(kallsyms.module_of(*init), "[nfsd]");
  EXPECT_EQ(kallsyms.module_of(*table.find(0xffffffffc0b00000)), "[bpf]");
  EXPECT_EQ(kallsyms.address_of("_stext"), 0xffffffff81000000);
  EXPECT_EQ(kallsyms.address_of("__param"), 0xffffffff81200000);
  EXPECT_EQ(kallsyms.address_of("missing"), std::nullopt);
}

TEST(Kallsyms, KnowsWhatItsNamesMayHave) {
  Kallsyms kallsyms =
      Kallsyms::parse("ffffffff81000000 T _stext\nffffffffc0a01000 t nfsd_init\t[nfsd]\n");
  EXPECT_TRUE(kallsyms.may_name("nfsd_init"));
  EXPECT_TRUE(kallsyms.may_name("ext"));
  EXPECT_FALSE(kallsyms.may_name("nfsd_exit"));
  EXPECT_FALSE(kallsyms.may_name("T _stext"));
}

TEST(Kallsyms, TellsRestriction) {
  Kallsyms kallsyms = Kallsyms::parse("0000000000000000 T _text\n0000000000000000 t helper\n");
  EXPECT_TRUE(kallsyms.restricted());
  EXPECT_TRUE(kallsyms.table().empty());
  EXPECT_FALSE(Kallsyms::parse("").restricted());
}

TEST(Kallsyms, CountsBadLines) {
  Kallsyms kallsyms = Kallsyms::parse(
      "\nxyz\n12 T\nffff T good\n11112222333344445 T long\n12  name\nffff0000 T last");
  EXPECT_EQ(kallsyms.bad_lines(), 5U);
  EXPECT_EQ(kallsyms.table().size(), 2U);
  EXPECT_EQ(kallsyms.table().find(0xffff0000)->name(), "last");
}

/// Modules and aliases, addresses out of order, lines of other kinds in between.
std::string some_kallsyms() {
  std::mt19937 random(5);
  std::string text;
  for (int i = 0; i < 4000; ++i) {
    uint64_t base = i < 3000 ? 0xffffffff81000000 : 0xffffffffc0000000 + (random() % 4) * 0x10000;
    uint64_t address = base + (random() % 8192) * 16;
    text += fmt::format("{:016x} {} f{}", address, "TtDbRA"[random() % 6], i);
    if (i >= 3000) text += fmt::format("\t[m{}]", (address >> 16) % 4);
    text += i % 97 == 0 ? "\nnot a line\n" : "\n";
  }
  return text;
}

TEST(Kallsyms, SymbolsAroundAddressesAreThoseOfTheWholeTable) {
  std::string path = testing::TempDir() + "kallsyms_around";
  std::ofstream(path) << some_kallsyms();
  Kallsyms whole = *Kallsyms::read(path);
  std::mt19937 random(6);
  for (size_t count : {0u, 1u, 7u, 500u}) {
    std::vector<uint64_t> addresses = {0, UINT64_MAX};
    for (size_t i = 0; i < count; ++i)
      addresses.push_back((random() % 3 == 0 ? 0xffffffffc0000000 : 0xffffffff81000000) +
                          random() % 0x42000);
    Kallsyms part = *Kallsyms::open(path);
    part.parse_around(addresses);
    EXPECT_EQ(part.bad_lines(), whole.bad_lines());
    EXPECT_LE(part.table().size(), addresses.size());
    for (uint64_t address : addresses) {
      const Symbol* expected = whole.table().find(address);
      const Symbol* found = part.table().find(address);
      ASSERT_EQ(found == nullptr, expected == nullptr) << std::hex << address;
      if (expected == nullptr) continue;
      EXPECT_EQ(found->name(), expected->name());
      EXPECT_EQ(found->start, expected->start);
      EXPECT_EQ(found->end, expected->end);
      EXPECT_EQ(part.module_of(*found), whole.module_of(*expected));
    }
  }
  std::filesystem::remove(path);
}

TEST(KallsymsLines, DigitsAreReadAsOneByOne) {
  for (char c = 1; c < 127; ++c) {
    if (c == '\n') continue;
    std::string text = "ffffffff8100a0f0 t name\n";
    text[7] = text[12] = c;
    KallsymsLine line;
    bool is_digit = std::isxdigit(static_cast<unsigned char>(c)) != 0;
    ASSERT_EQ(KallsymsLines(text).next(line), is_digit) << int{c};
    if (is_digit) {
      EXPECT_EQ(line.address, std::stoull(text.substr(0, 16), nullptr, 16));
      EXPECT_EQ(line.name(), "name");
    }
  }
}

TEST(PerfMap, ReadsLines) {
  PerfMap map = PerfMap::parse(
      "7f0000001000 20 LazyCompile:~run /srv/app.js:12\n"
      "0x7f0000002000 0x10 with prefix\r\n"
      "nonsense\n"
      "7f0000003000 8\n"
      "\n"
      "7f0000001010 20 newer");
  EXPECT_EQ(map.bad_lines, 2U);
  EXPECT_EQ(map.table.find(0x7f000000100f)->name(), "LazyCompile:~run /srv/app.js:12");
  EXPECT_EQ(map.table.find(0x7f0000001010)->name(), "newer");
  EXPECT_EQ(map.table.find(0x7f000000102f)->name(), "newer");
  EXPECT_EQ(map.table.find(0x7f0000002008)->name(), "with prefix");
  EXPECT_EQ(map.table.find(0x7f0000003000), nullptr);
}

TEST(PerfMap, NamesOfDotNetJavaAndPython) {
  PerfMap map = PerfMap::parse(
      "00007F1122330000 6f void [System.Private.CoreLib] System.Collections.Generic.List`1[int32]::"
      "Add(!0)[Tier0]\n"
      "0x00007f0ad0ec7600 0x00000000000000b8 java.lang.Object Map.get(java.lang.Object, int)\n"
      "7f0b00000000 b py::inner:/srv/app.py\n");
  EXPECT_EQ(map.bad_lines, 0U);
  EXPECT_EQ(
      map.table.find(0x7f112233006e)->name(),
      "void [System.Private.CoreLib] System.Collections.Generic.List`1[int32]::Add(!0)[Tier0]");
  EXPECT_EQ(map.table.find(0x7f0ad0ec7600)->name(),
            "java.lang.Object Map.get(java.lang.Object, int)");
  EXPECT_EQ(map.table.find(0x7f0b0000000a)->name(), "py::inner:/srv/app.py");
}

TEST(PerfMap, PointsLieInsideRanges) {
  PerfMap map = PerfMap::parse("1000 100 range\n1010 0 point\n1000 0 start\n");
  EXPECT_EQ(map.table.find(0x1010)->name(), "point");
  EXPECT_EQ(map.table.find(0x1011)->name(), "range");
  EXPECT_EQ(map.table.find(0x1000)->name(), "start");
  EXPECT_EQ(map.table.find(0x1001)->name(), "range");
}

TEST(Names, MayNotBeEmpty) {
  using namespace std::literals;
  EXPECT_EQ(PerfMap::parse(std::string("1000 10 \0x\n"sv)).bad_lines, 1U);
  EXPECT_EQ(Kallsyms::parse(std::string("ffff T \0x\n"sv)).bad_lines(), 1U);
}

TEST(PerfMap, LongNamesAreCut) {
  PerfMap map = PerfMap::parse("1000 10 " + std::string(kMaxGeneratedName, 'x') + "y\n2000 1 z\n");
  EXPECT_EQ(map.table.find(0x1000)->name(), std::string(kMaxGeneratedName, 'x'));
  EXPECT_EQ(map.table.find(0x2000)->name(), "z");
}

TEST(PerfMap, RangesDoNotWrap) {
  PerfMap map = PerfMap::parse("fffffffffffffff0 ffffffffffffffff huge\n");
  EXPECT_EQ(map.table.find(0xfffffffffffffff8)->name(), "huge");
  EXPECT_EQ(map.table.find(0x10), nullptr);
}

}  // namespace
}  // namespace sonde
