#include "symbol/symbol_table.h"

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>

#include "dwarf/cfi_sections.h"
#include "dwarf/debug_frame_builder.h"
#include "elf/elf_builder.h"
#include "symbol/demangle.h"
#include "symbol/elf_symbols.h"
#include "symbol/frame_function.h"

namespace sonde {
namespace {

Symbol symbol(const char* name, uint64_t start, uint64_t end, uint8_t binding = STB_GLOBAL,
              uint8_t type = STT_FUNC) {
  return {.start = start, .end = end, .name_chars = name, .type = type, .binding = binding};
}

std::string name_at(const SymbolTable& table, uint64_t address) {
  const Symbol* found = table.find(address);
  return found == nullptr ? "-" : std::string(found->name());
}

SymbolTable settled(const std::vector<Symbol>& symbols) {
  SymbolTableBuilder builder;
  for (const Symbol& s : symbols) builder.add(s);
  builder.finalize(FixupEnd::kElf);
  return std::move(builder).build();
}

TEST(SymbolTable, FindsByAddress) {
  SymbolTable table = settled({symbol("b", 0x200, 0x210), symbol("a", 0x100, 0x180)});
  EXPECT_EQ(name_at(table, 0xff), "-");
  EXPECT_EQ(name_at(table, 0x100), "a");
  EXPECT_EQ(name_at(table, 0x17f), "a");
  EXPECT_EQ(name_at(table, 0x180), "-");
  EXPECT_EQ(name_at(table, 0x20f), "b");
  EXPECT_EQ(name_at(table, 0x210), "-");
  EXPECT_EQ(table.find_by_name("b").front()->start, 0x200U);
  EXPECT_TRUE(table.find_by_name("c").empty());
}

TEST(SymbolTable, FindsTheInnermostOfNestedSymbols) {
  SymbolTable table = settled({symbol("outer", 0x100, 0x200), symbol("inner", 0x120, 0x140),
                               symbol("tiny", 0x128, 0x12c), symbol("later", 0x150, 0x160),
                               symbol("apart", 0x300, 0x310)});
  EXPECT_EQ(name_at(table, 0x11f), "outer");
  EXPECT_EQ(name_at(table, 0x120), "inner");
  EXPECT_EQ(name_at(table, 0x129), "tiny");
  EXPECT_EQ(name_at(table, 0x12c), "inner");
  EXPECT_EQ(name_at(table, 0x140), "outer");
  EXPECT_EQ(name_at(table, 0x1ff), "outer");
  EXPECT_EQ(name_at(table, 0x200), "-");
  EXPECT_EQ(name_at(table, 0x300), "apart");
}

std::string place_of(const SymbolTable& table, uint64_t address) {
  const Symbol* found = table.find(address);
  if (found == nullptr) return "-";
  return found->has_name() ? std::string(found->name()) : frame_function_name("prog", found->start);
}

TEST(SymbolTable, FillsGapsWithFunctions) {
  SymbolTableBuilder builder;
  builder.add(symbol("known", 0x100, 0x140));
  builder.add(symbol("label", 0x200, 0x200));  // perf stretches it to `next`
  builder.add(symbol("next", 0x400, 0x410));
  builder.finalize(FixupEnd::kElf);
  std::vector<FunctionRange> functions = {{0x100, 0x140},                  // has a symbol
                                          {0x120, 0x130},                  // is a part of one
                                          {0x140, 0x160}, {0x200, 0x280},  // has one without a size
                                          {0x300, 0x320}, {0x500, 0x510}};
  builder.fill_gaps(functions);
  SymbolTable table = std::move(builder).build();
  EXPECT_EQ(table.size(), 6U);
  EXPECT_EQ(place_of(table, 0x125), "known");
  EXPECT_EQ(place_of(table, 0x140), "prog+0x140");
  EXPECT_EQ(place_of(table, 0x160), "-");
  EXPECT_EQ(place_of(table, 0x2ff), "label");
  EXPECT_EQ(place_of(table, 0x31f), "prog+0x300");
  EXPECT_EQ(place_of(table, 0x320), "-");  // not `label`: it ends where the next function begins
  EXPECT_EQ(place_of(table, 0x400), "next");
  EXPECT_EQ(table.find(uint64_t{0x505})->size(), 0x10U);
}

TEST(FrameFunction, IsNamedByObjectAndStart) {
  EXPECT_EQ(frame_function_name("cc1plus", 0xd80100), "cc1plus+0xd80100");
  EXPECT_EQ(frame_function_start("cc1plus+0xd80100"), 0xd80100U);
  EXPECT_EQ(frame_function_start("libstdc++.so.6+0x1f"), 0x1fU);
  for (const char* name : {"main", "main+", "main+0x", "main+0xg", "main+12", "+0x12", ""})
    EXPECT_EQ(frame_function_start(name), std::nullopt) << name;
}

TEST(ElfSymbols, FunctionsWithoutSymbolsOnDemand) {
  DebugFrameBuilder frames(7, 16);
  for (uint64_t start : {0x1000U, 0x1100U, 0x1200U, 0x2000U})
    frames.function(start, {DW_CFA_def_cfa_offset, 24});
  ElfBuilder elf;
  uint32_t text = elf.section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
                              std::string(0x400, '\x90'));
  elf.section(".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000, std::string(0x100, '\x90'));
  elf.symbols({{"exported", 0x1100, 0x80, text}}, true);
  elf.section(".debug_frame", SHT_PROGBITS, 0, 0, frames.content());
  auto table = [&](bool frame_functions) {
    return load_elf_symbols(ElfFile::own(elf.build(), "test").value(), std::nullopt,
                            {.frame_functions = frame_functions});
  };
  EXPECT_EQ(table(false).size(), 1U);
  SymbolTable filled = table(true);
  EXPECT_EQ(place_of(filled, 0x10ff), "prog+0x1000");
  EXPECT_EQ(place_of(filled, 0x1100), "exported");
  EXPECT_EQ(place_of(filled, 0x12ff), "prog+0x1200");
  EXPECT_EQ(place_of(filled, 0x2000), "-");
}

TEST(SymbolTable, ExtendsSymbolsWithoutSize) {
  SymbolTable table = settled(
      {symbol("a", 0x1000, 0x1000), symbol("b", 0x1010, 0x1018), symbol("c", 0x5123, 0x5123)});
  EXPECT_EQ(name_at(table, 0x100f), "a");
  EXPECT_EQ(name_at(table, 0x1018), "-");
  EXPECT_EQ(table.symbols()[2].end, 0x7000U);  // to the end of the page plus one page
}

TEST(SymbolTable, KeepsTheBestOfAliases) {
  auto winner = [](Symbol a, Symbol b) { return name_at(settled({a, b}), 0x10); };
  EXPECT_EQ(winner(symbol("label", 0x10, 0x20, STB_GLOBAL, STT_NOTYPE), symbol("fn", 0x10, 0x18)),
            "fn");
  EXPECT_EQ(winner(symbol("weak", 0x10, 0x20, STB_WEAK), symbol("strong", 0x10, 0x20)), "strong");
  EXPECT_EQ(winner(symbol("local", 0x10, 0x20, STB_LOCAL), symbol("global", 0x10, 0x20)), "global");
  EXPECT_EQ(winner(symbol("__read", 0x10, 0x20), symbol("read", 0x10, 0x20)), "read");
  EXPECT_EQ(winner(symbol("short", 0x10, 0x20), symbol("longer", 0x10, 0x20)), "longer");
  EXPECT_EQ(winner(symbol("first", 0x10, 0x20), symbol("other", 0x10, 0x20)), "first");
  EXPECT_EQ(winner(symbol("SyS_write", 0x10, 0x20), symbol("sys_write", 0x10, 0x20)), "sys_write");
  // Names are compared as shown: f(int) is shorter than spin, though its mangled name is longer.
  EXPECT_EQ(winner(symbol("_Z1fi", 0x10, 0x20), symbol("spin", 0x10, 0x20)), "spin");
  EXPECT_EQ(winner(symbol("_ZN1AC1Ev", 0x10, 0x20), symbol("_ZN1AC2Ev", 0x10, 0x20)), "_ZN1AC1Ev");
}

TEST(SymbolTable, LastWinsCutsOlderSymbols) {
  SymbolTableBuilder builder;
  builder.add(symbol("old", 0x100, 0x200));
  builder.add(symbol("gone", 0x120, 0x130));
  builder.add(symbol("new", 0x118, 0x140));
  builder.add(symbol("point", 0x118, 0x118));
  builder.add(symbol("edge", 0x1f0, 0x210));
  builder.settle_last_wins();
  SymbolTable table = std::move(builder).build();
  EXPECT_EQ(name_at(table, 0x100), "old");
  EXPECT_EQ(name_at(table, 0x117), "old");
  EXPECT_EQ(name_at(table, 0x11f), "new");
  EXPECT_EQ(name_at(table, 0x125), "new");
  EXPECT_EQ(name_at(table, 0x140), "old");
  EXPECT_EQ(name_at(table, 0x1f0), "edge");
  EXPECT_EQ(name_at(table, 0x20f), "edge");
  EXPECT_TRUE(table.find_by_name("gone").empty());
}

TEST(ElfSymbols, CountsFunctionsDataAndLabels) {
  ElfBuilder elf;
  uint32_t text =
      elf.section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, std::string(256, '\0'));
  uint32_t warn = elf.section(".gnu.warning.x", SHT_PROGBITS, 0, 0, "text");
  uint32_t init = elf.section(".init_array", SHT_PROGBITS, SHF_ALLOC, 0x3000, "12345678");
  elf.symbols({{"fn", 0x1000, 8, text},
               {"ifunc", 0x1010, 8, text, STT_GNU_IFUNC},
               {"object", 0x1020, 8, text, STT_OBJECT},
               {"label", 0x1030, 0, text, STT_NOTYPE},
               {"hidden_label", 0x1040, 0, text, STT_NOTYPE, STB_LOCAL, STV_HIDDEN},
               {"init_label", 0x3000, 0, init, STT_NOTYPE},
               {"section", 0x1000, 0, text, STT_SECTION},
               {"thread", 0x1050, 8, text, STT_TLS},
               {"warning", 0, 8, warn},
               {"undefined", 0x1060, 8, SHN_UNDEF},
               {"absolute", 0x1070, 8, SHN_ABS}});
  SymbolTable table = load_elf_symbols(ElfFile::own(elf.build(), "o").value(), std::nullopt);
  std::vector<std::string_view> names;
  for (const Symbol& s : table.symbols()) names.push_back(s.name());
  EXPECT_THAT(names, testing::ElementsAre("fn", "ifunc", "object", "label"));
}

TEST(ElfSymbols, SkipsMappingSymbolsOfArm) {
  ElfBuilder elf(false, ByteOrder::kLittle, EM_ARM);
  uint32_t text =
      elf.section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, std::string(64, '\0'));
  elf.symbols({{"$a", 0x1000, 0, text, STT_NOTYPE, STB_LOCAL},
               {"$d.12", 0x1008, 0, text, STT_NOTYPE, STB_LOCAL},
               {"$dollar", 0x1010, 4, text},
               {"thumb", 0x1021, 4, text}});
  SymbolTable table = load_elf_symbols(ElfFile::own(elf.build(), "o").value(), std::nullopt);
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table.symbols()[0].name(), "$dollar");
  EXPECT_EQ(table.symbols()[1].start, 0x1020U);
}

TEST(ElfSymbols, DynamicSymbolsAddWhatIsMissing) {
  ElfBuilder elf;
  uint32_t text =
      elf.section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, std::string(64, '\0'));
  elf.symbols({{"a", 0x1000, 8, text}});
  elf.symbols({{"a", 0x1000, 8, text}, {"b", 0x1010, 8, text}}, true);
  SymbolTable table = load_elf_symbols(ElfFile::own(elf.build(), "o").value(), std::nullopt);
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(name_at(table, 0x1012), "b");
}

TEST(ElfSymbols, NoneIsReadWhereNoNameHasThePart) {
  ElfBuilder elf;
  uint32_t text =
      elf.section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, std::string(64, '\0'));
  elf.symbols({{"alpha", 0x1000, 8, text}});
  elf.symbols({{"beta", 0x1010, 8, text}}, true);
  auto symbols_with = [&](std::string_view part) {
    return load_elf_symbols(ElfFile::own(elf.build(), "o").value(), std::nullopt,
                            {.name_part = part})
        .size();
  };
  EXPECT_EQ(symbols_with(""), 2U);
  EXPECT_EQ(symbols_with("lph"), 2U);
  EXPECT_EQ(symbols_with("beta"), 2U);
  EXPECT_EQ(symbols_with("gamma"), 0U);
}

TEST(Demangle, ShowsNamesAsPerfDoes) {
  DemangleOptions options;
  auto shown = [&](const char* name) { return shown_name(name, false, options); };
  EXPECT_EQ(shown("main"), "main");
  EXPECT_EQ(shown("_ZN3app6Widget4spinIlEEvT_RKNSt7__cxx1112basic_stringIcSt11char_"
                  "traitsIcESaIcEEE.isra.0"),
            "app::Widget::spin<long>");
  EXPECT_EQ(shown("_Znwm@plt"), "operator new@plt");
  EXPECT_EQ(shown("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"), "core::fmt::Formatter::pad");
  EXPECT_EQ(shown("_RNvCskwGfYPst2Cb_3foo3bar"), "foo::bar");
  EXPECT_EQ(shown("_D4test3fooFiZv"), "test.foo(int)");
  EXPECT_EQ(shown("camlStdlib__array__map_154"), "Stdlib.array.map_154");
  EXPECT_EQ(shown("camlStdlib__bytes__$2b$2b_2205"), "Stdlib.bytes.++_2205");
  EXPECT_EQ(shown("_Znot_a_name"), "_Znot_a_name");
  options.parameters = true;
  EXPECT_EQ(shown("_Z3fooi"), "foo(int)");
  EXPECT_EQ(shown_name("_Z3fooi", true, options), "_Z3fooi");
  options.kernel = true;
  EXPECT_EQ(shown_name("_Z3fooi", true, options), "foo(int)");
  options.enabled = false;
  EXPECT_EQ(shown("_Z3fooi"), "_Z3fooi");
}

TEST(Demangle, AnIdentifierOfAShownNameStandsInTheSymbolsOwn) {
  EXPECT_EQ(identifier_within("main"), "main");
  EXPECT_EQ(identifier_within("std::map<int, long>::try_emplace<long>"), "try_emplace");
  EXPECT_EQ(identifier_within("(anonymous namespace)::Foo::bar(int)"), "bar");
  EXPECT_EQ(identifier_within("void sum<int>(int)"), "sum");
  EXPECT_EQ(identifier_within("<T as core::fmt::Debug>::fmt"), "fmt");
  for (const char* name :
       {"", "std::string::string", "operator new", "Foo::operator->", "malloc@plt", "f.cold",
        "main::{lambda(int)#1}", "vtable for Foo", "Foo::size() const", "f<", "f>", "a::", "~Foo"})
    EXPECT_EQ(identifier_within(name), "") << name;

  // All exports of the C++ library.
  Dl_info library{};
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(&std::set_terminate), &library), 0);
  auto file = ElfFile::open(library.dli_fname);
  ASSERT_TRUE(file) << file.error().message;
  size_t certain = 0, all = 0;
  for (const ElfSymbol& symbol : file->symbols(SymbolSection::kDynsym)) {
    if (!is_mangled(symbol.name)) continue;
    for (bool parameters : {false, true}) {
      std::string shown = demangle(symbol.name, parameters);
      std::string_view part = identifier_within(shown);
      ++all;
      certain += part.empty() ? 0 : 1;
      EXPECT_TRUE(std::string_view(symbol.name).contains(part)) << symbol.name << ' ' << shown;
    }
  }
  EXPECT_GT(all, 5000u);
  EXPECT_GT(certain * 3, all);
}

TEST(Demangle, HostileNamesAreCutOff) {
  // Each substitution doubles the text of the previous one.
  std::string name = "_Z1fI1aE";
  name = "_Z1f1AIS_S_E";
  for (int i = 0; i < 60; ++i)
    name += "S_IS" + std::string(1, static_cast<char>('0' + i % 10)) + "_S" +
            std::string(1, static_cast<char>('0' + i % 10)) + "_E";
  EXPECT_LE(demangle(name, true).size(), size_t{64} << 10);
  EXPECT_EQ(demangle("_Z" + std::string(100000, 'P') + "i", true), "");
}

}  // namespace
}  // namespace sonde
