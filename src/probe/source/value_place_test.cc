#include "probe/source/value_place.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include "dwarf/statement_rows.h"
#include "elf/elf_builder.h"

namespace sonde {
namespace {

using PlaceKind = ValuePlace::Kind;

/// A unit with one function at [0x1000, 0x1040) that has one parameter.
///   location: an expression, or, if `list` is not empty, that list
std::vector<std::byte> program_with(std::string_view location, std::string_view list,
                                    uint16_t version) {
  ByteBuilder abbrev;
  auto declare = [&](uint8_t code, uint8_t tag, bool children,
                     std::initializer_list<std::pair<uint8_t, uint8_t>> attributes) {
    abbrev.u8(code);
    abbrev.u8(tag);
    abbrev.u8(children ? 1 : 0);
    for (auto [name, form] : attributes) {
      abbrev.u8(name);
      abbrev.u8(form);
    }
    abbrev.u16(0);
  };
  declare(1, DW_TAG_compile_unit, true,
          {{DW_AT_low_pc, DW_FORM_addr}, {DW_AT_high_pc, DW_FORM_data8}});
  declare(2, DW_TAG_subprogram, true,
          {{DW_AT_name, DW_FORM_string},
           {DW_AT_low_pc, DW_FORM_addr},
           {DW_AT_high_pc, DW_FORM_data8},
           {DW_AT_frame_base, DW_FORM_exprloc}});
  declare(3, DW_TAG_formal_parameter, false,
          {{DW_AT_name, DW_FORM_string}, {DW_AT_location, DW_FORM_exprloc}});
  declare(4, DW_TAG_formal_parameter, false,
          {{DW_AT_name, DW_FORM_string}, {DW_AT_location, DW_FORM_sec_offset}});
  abbrev.u8(0);

  ByteBuilder unit;
  unit.u32(0);
  unit.u16(version);
  if (version >= 5) {
    unit.u8(DW_UT_compile);
    unit.u8(8);
    unit.u32(0);
  } else {
    unit.u32(0);
    unit.u8(8);
  }
  unit.u8(1);
  unit.u64(0x1000);
  unit.u64(0x40);
  unit.u8(2);
  unit.padded_string("main", 1);
  unit.u64(0x1000);
  unit.u64(0x40);
  unit.u8(2);
  unit.u8(DW_OP_breg6);
  unit.u8(16);
  unit.u8(list.empty() ? 3 : 4);
  unit.padded_string("n", 1);
  if (list.empty()) {
    unit.u8(static_cast<uint8_t>(location.size()));
    unit.text(location);
  } else {
    unit.u32(0);
  }
  unit.u8(0);
  unit.u8(0);
  unit.patch(0, static_cast<uint32_t>(unit.size() - 4));

  ElfBuilder elf;
  auto add = [&](const char* name, Bytes content) {
    elf.section(name, SHT_PROGBITS, 0, 0, std::string(as_text(content)));
  };
  add(".debug_info", unit.view());
  add(".debug_abbrev", abbrev.view());
  if (!list.empty()) add(version >= 5 ? ".debug_loclists" : ".debug_loc", as_bytes(list));
  return elf.build();
}

ValuePlace parameter_at(uint64_t address, std::string_view location, std::string_view list = {},
                        uint16_t version = 5) {
  ElfFile elf = ElfFile::own(program_with(location, list, version), "test").value();
  auto file = DwarfFile::open(std::move(elf), DwarfFile::Kind::kWhole).value();
  UnitCode code = UnitCode::read(file->units().at(0));
  EXPECT_EQ(code.nodes().size(), 2u);
  EXPECT_EQ(code.function_at(address), 0u);
  EXPECT_EQ(EntryFacts::of(code.entry(1)).name, "n");
  PlaceContext context{.address = address,
                       .entry = 0x1000,
                       .base = frame_base_of(code.entry(0), address, nullptr, file->elf())};
  return place_of(code.entry(1), context);
}

std::string bytes_of(std::initializer_list<int> values) {
  std::string text;
  for (int value : values) text += static_cast<char>(value);
  return text;
}

TEST(ValuePlace, ReadsRegistersAndMemory) {
  ValuePlace reg = parameter_at(0x1010, bytes_of({DW_OP_reg5}));
  EXPECT_EQ(reg.kind, PlaceKind::kRegister);
  EXPECT_EQ(reg.reg, 5u);
  ValuePlace frame = parameter_at(0x1010, bytes_of({DW_OP_fbreg, 0x58}));  // -40
  EXPECT_EQ(frame.kind, PlaceKind::kMemory);
  EXPECT_EQ(frame.reg, 6u);
  EXPECT_EQ(frame.offsets, std::vector<int64_t>{-24});
  ValuePlace behind =
      parameter_at(0x1010, bytes_of({DW_OP_breg5, 8, DW_OP_deref, DW_OP_plus_uconst, 4}));
  EXPECT_EQ(behind.kind, PlaceKind::kMemory);
  EXPECT_EQ(behind.offsets, (std::vector<int64_t>{8, 4}));
  ValuePlace at = parameter_at(0x1010, bytes_of({DW_OP_addr, 0x10, 0x40, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(at.kind, PlaceKind::kStatic);
  EXPECT_EQ(at.offsets, std::vector<int64_t>{0x4010});
}

TEST(ValuePlace, KeepsValuesApartFromAddresses) {
  ValuePlace same = parameter_at(0x1010, bytes_of({DW_OP_breg5, 0, DW_OP_stack_value}));
  EXPECT_EQ(same.kind, PlaceKind::kRegister);
  // Register 5 plus 8 is the value: no fetch argument adds.
  ValuePlace sum = parameter_at(0x1010, bytes_of({DW_OP_breg5, 8, DW_OP_stack_value}));
  EXPECT_EQ(sum.kind, PlaceKind::kUnsupported);
  EXPECT_TRUE(sum.begins_plainly);
  ValuePlace loaded =
      parameter_at(0x1010, bytes_of({DW_OP_breg5, 8, DW_OP_deref, DW_OP_stack_value}));
  EXPECT_EQ(loaded.kind, PlaceKind::kMemory);
  EXPECT_EQ(loaded.offsets, std::vector<int64_t>{8});
  ValuePlace four = parameter_at(0x1010, bytes_of({DW_OP_lit4, DW_OP_stack_value}));
  EXPECT_EQ(four.kind, PlaceKind::kConstant);
  EXPECT_EQ(four.offsets, std::vector<int64_t>{4});
  ValuePlace address =
      parameter_at(0x1010, bytes_of({DW_OP_addr, 0x10, 0x40, 0, 0, 0, 0, 0, 0, DW_OP_stack_value}));
  EXPECT_EQ(address.kind, PlaceKind::kAddressOf);
  EXPECT_EQ(parameter_at(0x1010, bytes_of({DW_OP_reg0, DW_OP_piece, 8})).kind,
            PlaceKind::kUnsupported);
  EXPECT_EQ(parameter_at(0x1010, {}).kind, PlaceKind::kNone);
}

TEST(ValuePlace, KnowsEntryValuesAtTheEntry) {
  std::string value = bytes_of({DW_OP_entry_value, 1, DW_OP_reg4, DW_OP_stack_value});
  ValuePlace entry = parameter_at(0x1000, value);
  EXPECT_EQ(entry.kind, PlaceKind::kRegister);
  EXPECT_EQ(entry.reg, 4u);
  ValuePlace later = parameter_at(0x1010, value);
  EXPECT_EQ(later.kind, PlaceKind::kUnsupported);
  EXPECT_NE(later.reason.find("entry"), std::string::npos);
}

TEST(ValuePlace, ReadsListsOfBothVersions) {
  std::string entries = bytes_of(
      {DW_LLE_start_length, 0, 0x10, 0, 0, 0, 0, 0, 0, 8, 1, DW_OP_reg5, DW_LLE_end_of_list});
  entries[1] = 0x08;  // from 0x1008
  ByteBuilder pairs;  // relative to the unit's 0x1000
  pairs.u64(0x8);
  pairs.u64(0x10);
  pairs.u16(1);
  pairs.u8(DW_OP_reg5);
  pairs.u64(0);
  pairs.u64(0);
  for (uint16_t version : {uint16_t{4}, uint16_t{5}}) {
    std::string list = version == 5 ? entries : std::string(as_text(pairs.view()));
    EXPECT_EQ(parameter_at(0x1008, {}, list, version).reg, 5u) << version;
    EXPECT_EQ(parameter_at(0x100f, {}, list, version).kind, PlaceKind::kRegister) << version;
    EXPECT_EQ(parameter_at(0x1010, {}, list, version).kind, PlaceKind::kNone) << version;
    // Before the first instruction of the body, a parameter is where it is going to be.
    EXPECT_EQ(parameter_at(0x1000, {}, list, version).kind, PlaceKind::kRegister) << version;
    EXPECT_EQ(parameter_at(0x1004, {}, list, version).kind, PlaceKind::kNone) << version;
  }
}

/// Every byte cut off or changed: places may be lost, nothing else.
TEST(ValuePlace, SurvivesDamage) {
  std::vector<std::byte> whole =
      program_with(bytes_of({DW_OP_breg5, 8, DW_OP_deref, DW_OP_stack_value}), {}, 5);
  auto ask = [](std::vector<std::byte> bytes) {
    auto elf = ElfFile::own(std::move(bytes), "test");
    if (!elf) return;
    auto file = DwarfFile::open(std::move(*elf), DwarfFile::Kind::kWhole);
    if (!file) return;
    for (const DwarfUnit& unit : (*file)->units()) {
      UnitCode code = UnitCode::read(unit);
      StatementRows rows(unit);
      for (uint32_t i = 0; i < code.nodes().size(); ++i) {
        PlaceContext context{0x1010, 0x1000, RegisterOffset{6, 16}};
        static_cast<void>(place_of(code.entry(i), context));
        static_cast<void>(EntryFacts::of(code.entry(i)));
        static_cast<void>(code.functions_at(0x1010));
      }
    }
  };
  for (size_t at = 0; at < whole.size(); ++at)
    for (int change : {0x01, 0x80, 0xff}) {
      std::vector<std::byte> changed = whole;
      changed[at] ^= static_cast<std::byte>(change);
      ask(std::move(changed));
    }
}

}  // namespace
}  // namespace sonde
