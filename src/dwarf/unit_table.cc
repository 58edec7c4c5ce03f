#include "dwarf/unit_table.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "dwarf/packed_table.h"

namespace sonde {
namespace {

constexpr uint64_t DwarfUnit::* kNumbers[] = {
    &DwarfUnit::offset,      &DwarfUnit::entries, &DwarfUnit::end,        &DwarfUnit::abbrev_offset,
    &DwarfUnit::type_offset, &DwarfUnit::low_pc,  &DwarfUnit::ranges_base};
constexpr std::optional<uint64_t> DwarfUnit::* kOptional[] = {
    &DwarfUnit::dwo_id,           &DwarfUnit::signature, &DwarfUnit::line_offset,
    &DwarfUnit::str_offsets_base, &DwarfUnit::addr_base, &DwarfUnit::rnglists_base,
    &DwarfUnit::loclists_base,    &DwarfUnit::high_pc,
};
constexpr std::string_view DwarfUnit::* kTexts[] = {&DwarfUnit::name, &DwarfUnit::directory,
                                                    &DwarfUnit::dwo_name};

}  // namespace

struct UnitTable::Packed {
  uint64_t numbers[std::size(kNumbers)];
  uint64_t optional[std::size(kOptional)];  // 0 if absent
  uint64_t ranges;
  uint32_t texts[std::size(kTexts)];  // offsets in the heap
  uint16_t version, tag, ranges_form;
  uint8_t address_size, offset_size, type;
  uint8_t has_optional;  // a bit for each
  uint8_t is_type;       // it is in .debug_types

  static Packed of(const DwarfUnit& unit, StringHeap& heap);
  [[nodiscard]] DwarfUnit unit(const DwarfFile& file, std::span<const char> heap) const;
  [[nodiscard]] bool fits(const DwarfFile& file) const;
};

UnitTable::Packed UnitTable::Packed::of(const DwarfUnit& unit, StringHeap& heap) {
  static_assert(std::size(kOptional) <= 8 * sizeof has_optional);
  Packed made{};
  for (size_t i = 0; i < std::size(kNumbers); ++i) made.numbers[i] = unit.*kNumbers[i];
  for (size_t i = 0; i < std::size(kOptional); ++i) {
    const std::optional<uint64_t>& value = unit.*kOptional[i];
    made.optional[i] = value.value_or(0);
    made.has_optional = static_cast<uint8_t>(made.has_optional | (value ? 1u << i : 0));
  }
  for (size_t i = 0; i < std::size(kTexts); ++i) made.texts[i] = heap.add(unit.*kTexts[i]);
  made.ranges = unit.ranges.number;
  made.ranges_form = unit.ranges.form;
  made.version = unit.format.version;
  made.address_size = unit.format.address_size;
  made.offset_size = unit.format.offset_size;
  made.tag = unit.tag;
  made.type = unit.type;
  made.is_type = unit.section == DwarfSection::kTypes ? 1 : 0;
  return made;
}

DwarfUnit UnitTable::Packed::unit(const DwarfFile& file, std::span<const char> heap) const {
  DwarfUnit made;
  made.file = &file;
  made.section = is_type != 0 ? DwarfSection::kTypes : DwarfSection::kInfo;
  made.format = {version, address_size, offset_size};
  made.type = type;
  made.tag = tag;
  made.ranges = {ranges_form, ranges, {}};
  for (size_t i = 0; i < std::size(kNumbers); ++i) made.*kNumbers[i] = numbers[i];
  for (size_t i = 0; i < std::size(kOptional); ++i)
    if ((has_optional & 1u << i) != 0) made.*kOptional[i] = optional[i];
  for (size_t i = 0; i < std::size(kTexts); ++i) made.*kTexts[i] = StringHeap::at(heap, texts[i]);
  return made;
}

/// What readers of units rely on.
bool UnitTable::Packed::fits(const DwarfFile& file) const {
  DwarfUnit made = unit(file, {});
  bool is_known = version >= 2 && version <= 5 && (address_size == 4 || address_size == 8) &&
                  (offset_size == 4 || offset_size == 8);
  return is_known && made.offset <= made.entries && made.entries <= made.end &&
         made.end <= file.section(made.section).size();
}

std::vector<std::byte> UnitTable::pack(const DwarfFile& file, uint64_t stamp) {
  StringHeap texts;
  std::vector<Packed> packed;
  for (const std::vector<DwarfUnit>* units : {&file.units(), &file.type_units()})
    for (const DwarfUnit& unit : *units) {
      if (unit.abbrevs == nullptr) return {};
      packed.push_back(Packed::of(unit, texts));
    }
  TablePacker out;
  out.put(std::span<const uint64_t>(&stamp, 1));
  out.put(std::span<const Packed>(packed));
  out.put(texts.chars());
  return std::move(out).finish();
}

std::optional<UnitTable> UnitTable::restore(Bytes packed, uint64_t stamp) {
  UnitTable table;
  TableReader in(packed);
  std::span<const uint64_t> made_with;
  in.get(made_with);
  in.get(table.units_);
  in.get(table.texts_);
  bool is_whole = in.ok() && made_with.size() == 1 && made_with[0] == stamp;
  return is_whole ? std::optional(std::move(table)) : std::nullopt;
}

std::optional<UnitTable::Units> UnitTable::units_of(const DwarfFile& file) const {
  Units made;
  for (const Packed& packed : units_) {
    if (!packed.fits(file)) return std::nullopt;
    std::vector<DwarfUnit>& units = packed.is_type != 0 ? made.types : made.info;
    DwarfUnit unit = packed.unit(file, texts_);
    if (!units.empty() && unit.offset < units.back().end) return std::nullopt;
    units.push_back(std::move(unit));
  }
  return made;
}

}  // namespace sonde
