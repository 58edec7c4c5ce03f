#include "dwarf/line_index.h"

#include <dwarf.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/parallel.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/dwarf_ranges.h"
#include "dwarf/function_tree.h"
#include "dwarf/line_table.h"
#include "dwarf/nested_ranges.h"
#include "dwarf/split_units.h"
#include "dwarf/supplement.h"

namespace sonde {
namespace {

/// A unit with code. Its tables are read on first use.
struct CodeUnit {
  const DwarfUnit* unit = nullptr;  // null until the file is opened
  uint64_t offset = 0, size = 0;    // in .debug_info
  std::once_flag lines_once, functions_once;
  LineTable lines;
  FunctionTree functions;
  /// The bytes of the tables once they were read; before that, the cached ones.
  Bytes lines_bytes, functions_bytes;
};

/// The packed form: where the unit's tables are in the packed bytes. Units without bytes were not
/// read.
struct PackedUnit {
  uint64_t offset, size;
  uint64_t lines_at, lines_size, functions_at, functions_size;
};

bool may_have_code(const DwarfUnit& unit) {
  return unit.abbrevs != nullptr &&
         (unit.tag == DW_TAG_compile_unit || unit.tag == DW_TAG_skeleton_unit);
}

}  // namespace

struct LineIndex::State {
  explicit State(DwarfLocations p) : places(std::move(p)) {}

  DwarfLocations places;
  OpenFile open;  // of a restored index
  std::once_flag opened;
  std::unique_ptr<DwarfFile> file;
  std::optional<SplitUnits> split;
  std::vector<std::unique_ptr<CodeUnit>> units;
  std::vector<RangeBoundary> boundaries;  // into `units`
  uint64_t bytes_opened = 0;              // what had to be scanned before anything could be read
  std::atomic<uint64_t> bytes_read = 0;
  std::atomic<bool> is_whole = true;  // nothing was missing that may exist later

  Result<> open_file(ElfFile elf);
  void find_code();
  void open_late();
  [[nodiscard]] CodeUnit* unit_at(uint64_t addr) const;
  const DwarfUnit* in_file(const CodeUnit& unit);
  const LineTable& lines_of(CodeUnit& unit);
  const FunctionTree& functions_of(CodeUnit& unit);
};

Result<> LineIndex::State::open_file(ElfFile elf) {
  std::string name = elf.name();
  bool has_supplement = elf.section(".gnu_debugaltlink") != nullptr;
  auto supplement = find_supplement(elf, places);
  if (has_supplement && supplement == nullptr) is_whole = false;
  file = TRY(DwarfFile::open(std::move(elf), DwarfFile::Kind::kWhole, std::move(supplement)));
  bytes_opened = file->section(DwarfSection::kInfo).size();
  split.emplace(std::move(name), places.root);
  return {};
}

/// Matches the units of a restored index with those of its file, by offset.
void LineIndex::State::open_late() {
  if (auto elf = open(); !elf || !open_file(std::move(*elf))) return;
  for (auto& code : units) {
    auto found = std::ranges::lower_bound(file->units(), code->offset, {}, &DwarfUnit::offset);
    if (found != file->units().end() && found->offset == code->offset) code->unit = &*found;
  }
}

/// Determines which unit covers which addresses.
void LineIndex::State::find_code() {
  std::vector<NestedRange> ranges;
  std::vector<CodeRange> pieces;
  size_t limit = file->units().size() + file->section(DwarfSection::kRanges).size() +
                 file->section(DwarfSection::kRnglists).size();
  for (const DwarfUnit& unit : file->units()) {
    if (!may_have_code(unit)) continue;
    auto code = std::make_unique<CodeUnit>();
    code->unit = &unit;
    code->offset = unit.offset;
    code->size = unit.end - unit.offset;
    pieces.clear();
    read_unit_code(unit, limit - std::min(limit, ranges.size()), pieces);
    if (!unit.ranges && !unit.high_pc && unit.line_offset) {
      // The unit does not say, so its lines decide.
      const LineTable& lines = lines_of(*code);
      uint64_t low = 0;
      for (const LineTable::Row& row : lines.rows()) {
        if (row.file == LineTable::kEnd) pieces.push_back({std::exchange(low, 0), row.addr});
        if (row.file != LineTable::kEnd && low == 0) low = row.addr;
      }
    }
    if (pieces.empty()) continue;
    auto id = static_cast<uint32_t>(units.size());
    for (const CodeRange& piece : pieces) ranges.push_back({piece.low, piece.high, id});
    units.push_back(std::move(code));
  }
  boundaries = flatten(std::move(ranges));
}

CodeUnit* LineIndex::State::unit_at(uint64_t addr) const {
  auto after = std::ranges::upper_bound(boundaries, addr, {}, &RangeBoundary::addr);
  if (after == boundaries.begin()) return nullptr;
  uint32_t id = std::prev(after)->id;
  return id < units.size() ? units[id].get() : nullptr;
}

const DwarfUnit* LineIndex::State::in_file(const CodeUnit& unit) {
  std::call_once(opened, [this] {
    if (open) open_late();
  });
  return unit.unit;
}

const LineTable& LineIndex::State::lines_of(CodeUnit& unit) {
  std::call_once(unit.lines_once, [&] {
    if (!unit.lines_bytes.empty()) {
      unit.lines = LineTable::view(unit.lines_bytes);
    } else if (const DwarfUnit* whole = in_file(unit)) {
      unit.lines = LineTable::read(*whole);
      unit.lines_bytes = unit.lines.bytes();
      bytes_read += unit.lines_bytes.size();
    }
  });
  return unit.lines;
}

const FunctionTree& LineIndex::State::functions_of(CodeUnit& unit) {
  std::call_once(unit.functions_once, [&] {
    if (!unit.functions_bytes.empty()) {
      unit.functions = FunctionTree::view(unit.functions_bytes);
      return;
    }
    const DwarfUnit* program = in_file(unit);
    const DwarfUnit* whole = program;
    if (program != nullptr && !program->dwo_name.empty()) whole = split->find(*program);
    if (whole == nullptr) {
      is_whole = false;
      return;
    }
    unit.functions = FunctionTree::read(*whole, *program);
    unit.functions_bytes = unit.functions.bytes();
    bytes_read += whole->end - whole->offset;
  });
  return unit.functions;
}

Result<LineIndex> LineIndex::open(const std::string& path, const DwarfLocations& places) {
  return open(TRY(ElfFile::open(path)), places);
}

Result<LineIndex> LineIndex::open(ElfFile elf, const DwarfLocations& places) {
  auto state = std::make_unique<State>(places);
  TRY(state->open_file(std::move(elf)));
  state->find_code();
  return LineIndex(std::move(state));
}

std::optional<LineIndex> LineIndex::restore(Bytes packed, OpenFile open,
                                            const DwarfLocations& places) {
  auto state = std::make_unique<State>(places);
  state->open = std::move(open);
  std::span<const PackedUnit> units;
  std::span<const RangeBoundary> boundaries;
  std::span<const std::byte> tables;
  TableReader reader(packed);
  reader.get(units);
  reader.get(boundaries);
  reader.get(tables);
  if (!reader.ok()) return std::nullopt;
  auto part = [&tables](uint64_t at, uint64_t size) {
    bool inside = at % 8 == 0 && at <= tables.size() && size <= tables.size() - at;
    return inside ? tables.subspan(at, size) : Bytes();
  };
  for (const PackedUnit& unit : units) {
    CodeUnit& code = *state->units.emplace_back(std::make_unique<CodeUnit>());
    code.offset = unit.offset;
    code.size = unit.size;
    code.lines_bytes = part(unit.lines_at, unit.lines_size);
    code.functions_bytes = part(unit.functions_at, unit.functions_size);
  }
  state->boundaries.assign(boundaries.begin(), boundaries.end());
  return LineIndex(std::move(state));
}

std::optional<std::vector<std::byte>> LineIndex::pack(uint64_t least_bytes) const {
  if (!state_->is_whole || state_->bytes_read == 0 ||
      state_->bytes_read + state_->bytes_opened < least_bytes)
    return std::nullopt;
  state_->bytes_read = state_->bytes_opened = 0;
  std::vector<PackedUnit> units;
  std::vector<std::byte> tables;
  auto add = [&tables](Bytes bytes) {
    uint64_t at = tables.size();
    tables.insert(tables.end(), bytes.begin(), bytes.end());
    tables.resize((tables.size() + 7) & ~size_t{7});
    return at;
  };
  for (const auto& code : state_->units) {
    uint64_t lines_at = add(code->lines_bytes), functions_at = add(code->functions_bytes);
    units.push_back({code->offset, code->size, lines_at, code->lines_bytes.size(), functions_at,
                     code->functions_bytes.size()});
  }
  TablePacker packer;
  packer.put<PackedUnit>(units);
  packer.put<RangeBoundary>(state_->boundaries);
  packer.put<std::byte>(tables);
  return std::move(packer).finish();
}

LineIndex::LineIndex(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineIndex::LineIndex(LineIndex&&) noexcept = default;
LineIndex& LineIndex::operator=(LineIndex&&) noexcept = default;
LineIndex::~LineIndex() = default;

void LineIndex::prepare(std::span<const ElfAddr> addresses, LineParts parts) const {
  std::vector<CodeUnit*> wanted;
  for (ElfAddr address : addresses) {
    CodeUnit* unit = state_->unit_at(address.value);
    if (unit != nullptr && (wanted.empty() || wanted.back() != unit)) wanted.push_back(unit);
  }
  std::ranges::sort(wanted);
  auto [first, last] = std::ranges::unique(wanted);
  wanted.erase(first, last);
  // The largest first, so that no core is left alone with one at the end.
  std::ranges::sort(wanted, std::ranges::greater(),
                    [](const CodeUnit* unit) { return unit->size; });
  parallel_for(wanted.size(), [&](size_t i) {
    if (parts != LineParts::kFunctions) (void)state_->lines_of(*wanted[i]);
    if (parts != LineParts::kLines) (void)state_->functions_of(*wanted[i]);
  });
}

std::optional<SourceLine> LineIndex::find(ElfAddr address) const {
  CodeUnit* unit = state_->unit_at(address.value);
  if (unit == nullptr) return std::nullopt;
  const LineTable& lines = state_->lines_of(*unit);
  const LineTable::Row* row = lines.find(address.value);
  if (row == nullptr) return std::nullopt;
  return SourceLine{lines.file(*row), row->line};
}

std::vector<InlineFrame> LineIndex::inline_frames(ElfAddr address) const {
  std::vector<InlineFrame> frames;
  CodeUnit* unit = state_->unit_at(address.value);
  if (unit == nullptr) return frames;
  const FunctionTree& tree = state_->functions_of(*unit);
  SourceLine at = find(address).value_or(SourceLine{});
  for (uint32_t id = tree.find(address.value); id != FunctionTree::kNone;) {
    FunctionTree::Function function = tree.function(id);
    frames.push_back({tree.name(function), at, function.inlined != 0});
    at = {tree.call_file(function), function.call_line};
    // Parents have smaller indexes than their children: a cycle is impossible.
    id = function.parent < id ? function.parent : FunctionTree::kNone;
  }
  return frames;
}

void LineIndex::inlined_functions(ElfAddr address, std::vector<std::string_view>& names) const {
  CodeUnit* unit = state_->unit_at(address.value);
  if (unit == nullptr) return;
  const FunctionTree& tree = state_->functions_of(*unit);
  for (uint32_t id = tree.find(address.value); id != FunctionTree::kNone;) {
    FunctionTree::Function function = tree.function(id);
    if (function.inlined != 0) names.push_back(tree.name(function));
    id = function.parent < id ? function.parent : FunctionTree::kNone;
  }
}

}  // namespace sonde
