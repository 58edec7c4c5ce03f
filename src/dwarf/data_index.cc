#include "dwarf/data_index.h"

#include <dwarf.h>

#include <algorithm>

#include "base/parallel.h"
#include "dwarf/entry_cursor.h"
#include "dwarf/supplement.h"

namespace sonde {

Result<std::unique_ptr<DataIndex>> DataIndex::open(ElfFile elf, const DwarfLocations& places) {
  std::string program = elf.name();
  auto supplement = find_supplement(elf, places);
  auto file = TRY(DwarfFile::open(std::move(elf), DwarfFile::Kind::kWhole, std::move(supplement)));
  std::unique_ptr<DataIndex> index(new DataIndex(std::move(file), std::move(program), places.root));
  index->find_code();
  return index;
}

DataIndex::DataIndex(std::unique_ptr<DwarfFile> file, std::string program, std::string root)
    : file_(std::move(file)),
      split_(std::move(program), std::move(root)),
      types_([this](DwarfEntry entry) { return scope_of(entry); }) {}

void DataIndex::find_code() {
  std::vector<NestedRange> ranges;
  std::vector<CodeRange> pieces;
  size_t limit = file_->units().size() + file_->section(DwarfSection::kRanges).size() +
                 file_->section(DwarfSection::kRnglists).size();
  for (const DwarfUnit& unit : file_->units()) {
    bool is_program = unit.tag == DW_TAG_compile_unit || unit.tag == DW_TAG_skeleton_unit;
    if (unit.abbrevs == nullptr || !is_program) continue;
    pieces.clear();
    read_unit_code(unit, limit - std::min(limit, ranges.size()), pieces);
    auto id = static_cast<uint32_t>(units_.size());
    for (const CodeRange& piece : pieces) ranges.push_back({piece.low, piece.high, id});
    units_.push_back({.unit = &unit, .outline = {}});
  }
  boundaries_ = flatten(std::move(ranges));
}

DataIndex::CodeUnit* DataIndex::unit_at(uint64_t address) {
  auto after = std::ranges::upper_bound(boundaries_, address, {}, &RangeBoundary::addr);
  if (after == boundaries_.begin()) return nullptr;
  uint32_t id = std::prev(after)->id;
  return id < units_.size() ? &units_[id] : nullptr;
}

void DataIndex::read_outline(CodeUnit& unit) {
  if (unit.is_read) return;
  unit.is_read = true;
  unit.whole = unit.unit->dwo_name.empty() ? unit.unit : split_.find(*unit.unit);
  if (unit.whole != nullptr) unit.outline = UnitOutline::read(*unit.whole);
}

const UnitOutline& DataIndex::outline(CodeUnit& unit) {
  read_outline(unit);
  if (unit.whole != nullptr)
    unit_of_.try_emplace(unit.whole, static_cast<size_t>(&unit - units_.data()));
  return unit.outline;
}

DwarfEntry DataIndex::function_entry(uint64_t address) {
  CodeUnit* unit = unit_at(address);
  if (unit == nullptr) return {};
  uint64_t entry = outline(*unit).function_at(address);
  return entry == 0 ? DwarfEntry() : DwarfEntry{unit->whole, entry};
}

const FunctionVariables* DataIndex::function_at(uint64_t address) {
  DwarfEntry entry = function_entry(address);
  if (entry.unit == nullptr) return nullptr;
  auto [found, is_new] = functions_.try_emplace({entry.unit, entry.offset});
  if (is_new) found->second = FunctionVariables::read(entry);
  return &found->second;
}

DataTypeId DataIndex::result_of(uint64_t address) {
  return types_.of(type_of_entry(function_entry(address)));
}

bool DataIndex::is_entry(uint64_t address) {
  DwarfEntry function = function_entry(address);
  if (!is_readable(function)) return false;
  EntryCursor in(function);
  if (!in.next()) return false;
  std::vector<CodeRange> pieces;  // of several, the first contains the entry point
  read_code(in.unit(), in.value(DW_AT_low_pc), in.value(DW_AT_high_pc), in.value(DW_AT_ranges), 1,
            pieces);
  return !pieces.empty() && pieces.front().low == address;
}

void DataIndex::find_statics() {
  has_statics_ = true;
  parallel_for(units_.size(), [this](size_t i) { read_outline(units_[i]); });
  for (CodeUnit& unit : units_) {
    for (const UnitOutline::Static& one : outline(unit).statics)
      (one.is_thread_local ? thread_locals_ : statics_)
          .push_back({one.address, {unit.whole, one.entry}});
  }
  for (auto* list : {&statics_, &thread_locals_})
    std::ranges::stable_sort(*list, {}, &Static::address);
}

std::optional<StaticData> DataIndex::data_at(uint64_t address, bool is_thread_local) {
  if (!has_statics_) find_statics();
  const std::vector<Static>& list = is_thread_local ? thread_locals_ : statics_;
  auto after = std::ranges::upper_bound(list, address, {}, &Static::address);
  if (after == list.begin()) return std::nullopt;
  uint64_t start = std::prev(after)->address;
  // Several units may describe the same variable, and not all of them give its size.
  for (; after != list.begin() && std::prev(after)->address == start; --after) {
    DataTypeId type = types_.of(type_of_entry(std::prev(after)->entry));
    if (address - start < types_.size_of(type)) return StaticData{type, address - start};
  }
  return std::nullopt;
}

std::string_view DataIndex::scope_of(DwarfEntry entry) {
  auto unit = unit_of_.find(entry.unit);
  if (unit != unit_of_.end()) return units_[unit->second].outline.scope_of(entry.offset);
  // Types that several units share are in a unit of their own.
  for (CodeUnit& one : units_)
    if (one.unit == entry.unit) return outline(one).scope_of(entry.offset);
  auto [other, is_new] = others_.try_emplace(entry.unit);
  if (is_new) other->second = UnitOutline::read(*entry.unit);
  return other->second.scope_of(entry.offset);
}

}  // namespace sonde
