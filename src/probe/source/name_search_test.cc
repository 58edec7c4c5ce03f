#include "probe/source/name_search.h"

#include <dwarf.h>
#include <elf.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "dwarf/dwarf_file.h"
#include "elf/elf_builder.h"

namespace sonde {
namespace {

/// Units with functions whose names are in .debug_str or, of others in the same unit, in the entry
/// itself.
class Program {
 public:
  void unit(const std::function<void(Program&)>& entries) {
    size_t start = info_.size();
    info_.u32(0);
    info_.u16(4);
    info_.u32(0);
    info_.u8(8);
    info_.u8(1);  // the unit itself
    entries(*this);
    info_.u8(0);
    info_.patch(start, static_cast<uint32_t>(info_.size() - start - 4));
  }
  /// Its name is the end of a string.
  void function(std::string_view name, size_t from = 0) {
    info_.u8(2);
    info_.u32(static_cast<uint32_t>(strings_.size() + from));
    strings_.append(name).append(1, '\0');
    info_.u64(kCode);
  }
  void declaration(std::string_view name) {
    info_.u8(5);
    info_.u32(static_cast<uint32_t>(strings_.size()));
    strings_.append(name).append(1, '\0');
  }
  void function_with_own_name(std::string_view name) {
    info_.u8(3);
    info_.text(name);
    info_.u8(0);
    info_.u64(kCode);
  }
  /// Entries of a byte each.
  void blocks(size_t count) {
    for (size_t i = 0; i < count; ++i) info_.u8(4);
  }

  [[nodiscard]] std::unique_ptr<DwarfFile> file() const {
    ByteBuilder abbrevs;
    constexpr int kAbbrevs[] = {1,
                                DW_TAG_compile_unit,
                                1,
                                0,
                                0,  // the unit
                                2,
                                DW_TAG_subprogram,
                                0,
                                DW_AT_name,
                                DW_FORM_strp,  //
                                DW_AT_low_pc,
                                DW_FORM_addr,  //
                                0,
                                0,  //
                                3,
                                DW_TAG_subprogram,
                                0,
                                DW_AT_name,
                                DW_FORM_string,  //
                                DW_AT_low_pc,
                                DW_FORM_addr,  //
                                0,
                                0,  //
                                4,
                                DW_TAG_lexical_block,
                                0,
                                0,
                                0,  //
                                5,
                                DW_TAG_subprogram,
                                0,
                                DW_AT_name,
                                DW_FORM_strp,  //
                                0,
                                0,  //
                                0};
    for (int value : kAbbrevs) abbrevs.u8(static_cast<uint8_t>(value));
    ElfBuilder elf;
    elf.section(".debug_info", SHT_PROGBITS, 0, 0, std::string(as_text(info_.view())));
    elf.section(".debug_abbrev", SHT_PROGBITS, 0, 0, std::string(as_text(abbrevs.view())));
    elf.section(".debug_str", SHT_PROGBITS, 0, 0, strings_);
    return std::move(
        *DwarfFile::open(std::move(*ElfFile::own(elf.build(), "test")), DwarfFile::Kind::kWhole));
  }

 private:
  static constexpr uint64_t kCode = 0x1000;  // where each function is

  ByteBuilder info_;
  std::string strings_ = std::string("first\0of all\0", 13);
};

/// One letter for each unit: whether it may have the name.
std::string units_of(const Program& program, std::string_view name) {
  auto file = program.file();
  NameSearch search(*file, name);
  NameSearch at_once(*file, name);
  at_once.search_all();
  std::string found;
  for (const DwarfUnit& unit : file->units()) {
    found += search.may_name(unit) ? 'y' : 'n';
    EXPECT_EQ(at_once.may_name(unit), found.back() == 'y');
  }
  return found;
}

TEST(NameSearch, FindsReferencesToStrings) {
  Program program;
  program.unit([](Program& unit) { unit.function("deposit"); });
  program.unit([](Program& unit) { unit.function("withdraw"); });
  program.unit([](Program& unit) { unit.function("withdraw<int>"); });
  EXPECT_EQ(units_of(program, "deposit"), "ynn");
  EXPECT_EQ(units_of(program, "withdraw"), "nyy");
  EXPECT_EQ(units_of(program, "with"), "nnn");
  EXPECT_EQ(units_of(program, ""), "yyy");
}

/// Users of a class have the names of its functions, too.
TEST(NameSearch, LeavesOutUnitsThatOnlyDeclare) {
  Program program;
  program.unit([](Program& unit) { unit.function("deposit"); });
  program.unit([](Program& unit) { unit.declaration("deposit"); });
  EXPECT_EQ(units_of(program, "deposit"), "yn");
}

/// A compiler may choose one form for one name, and another for the next.
TEST(NameSearch, FindsNamesInEntriesBesideReferences) {
  Program program;
  program.unit([](Program& unit) {
    unit.function("deposit");
    unit.function_with_own_name("a_name_in_its_entry");
    unit.function_with_own_name("put");
  });
  program.unit([](Program& unit) { unit.function("withdraw"); });
  program.unit([](Program& unit) { unit.function_with_own_name("another<int>"); });
  EXPECT_EQ(units_of(program, "a_name_in_its_entry"), "ynn");
  EXPECT_EQ(units_of(program, "put"), "ynn");
  EXPECT_EQ(units_of(program, "another"), "nny");
  EXPECT_EQ(units_of(program, "a_name"), "nnn");
}

/// Many bytes are compared at once: wherever a name is among them.
TEST(NameSearch, FindsNamesWhereverTheyAre) {
  for (size_t before = 0; before < 140; ++before) {
    for (size_t behind : {size_t{0}, size_t{1}, size_t{70}}) {
      Program program;
      program.unit([&](Program& unit) {
        unit.blocks(before);
        unit.function("deposit");
        unit.blocks(behind);
      });
      program.unit([&](Program& unit) {
        unit.blocks(before);
        unit.function_with_own_name("withdraw");
        unit.blocks(behind);
      });
      ASSERT_EQ(units_of(program, "deposit"), "yn") << before << " " << behind;
      ASSERT_EQ(units_of(program, "withdraw"), "ny") << before << " " << behind;
    }
  }
}

/// More places in the strings than are compared at once.
TEST(NameSearch, FindsNamesThatAreTheEndsOfMany) {
  Program program;
  for (int i = 10; i < 90; ++i)
    program.unit([&](Program& unit) { unit.function("get_" + std::to_string(i) + "_size", 7); });
  program.unit([](Program& unit) { unit.function("other_size"); });
  EXPECT_EQ(units_of(program, "size"), std::string(80, 'y') + "n");
}

}  // namespace
}  // namespace sonde
