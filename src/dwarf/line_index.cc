#include "dwarf/line_index.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "dwarf/function_tree.h"
#include "dwarf/line_table.h"

namespace sonde {
namespace {

struct DwarfCloser {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
using DwarfHandle = std::unique_ptr<Dwarf, DwarfCloser>;

/// One compilation unit; its tables are read when they are first needed.
struct Unit {
  Dwarf_Die die;
  std::optional<LineTable> lines;
  std::optional<FunctionTree> functions;
};

struct UnitRange {
  uint64_t low;
  uint64_t high;
  uint32_t unit;
};

}  // namespace

struct LineIndex::State {
  Fd fd;  // outlives `dwarf`, which reads from it
  DwarfHandle dwarf;
  std::vector<Unit> units;
  std::vector<UnitRange> ranges;  // by low

  void read_units();
  void add_ranges(uint32_t unit);
  Unit* unit_at(uint64_t addr);
  const LineTable& lines_of(Unit& unit);
};

void LineIndex::State::read_units() {
  Dwarf_CU* cu = nullptr;
  Dwarf_Die die;
  uint8_t unit_type = 0;
  while (dwarf_get_units(dwarf.get(), cu, &cu, nullptr, &unit_type, &die, nullptr) == 0) {
    if (unit_type != DW_UT_compile && unit_type != DW_UT_skeleton) continue;
    if (dwarf_tag(&die) != DW_TAG_compile_unit && dwarf_tag(&die) != DW_TAG_skeleton_unit) continue;
    units.push_back({die, std::nullopt, std::nullopt});
    add_ranges(static_cast<uint32_t>(units.size() - 1));
  }
  std::ranges::sort(ranges, {}, &UnitRange::low);
}

void LineIndex::State::add_ranges(uint32_t unit) {
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  ptrdiff_t at = 0;
  while ((at = dwarf_ranges(&units[unit].die, at, &base, &low, &high)) > 0)
    // Functions that the linker threw away start at 0 or close to it.
    if (low != 0 && low < high) ranges.push_back({low, high, unit});
}

Unit* LineIndex::State::unit_at(uint64_t addr) {
  auto after = std::ranges::upper_bound(ranges, addr, {}, &UnitRange::low);
  if (after == ranges.begin()) return nullptr;
  const UnitRange& range = *std::prev(after);
  return addr < range.high ? &units[range.unit] : nullptr;
}

const LineTable& LineIndex::State::lines_of(Unit& unit) {
  if (!unit.lines) unit.lines = LineTable::read(unit.die);
  return *unit.lines;
}

Result<LineIndex> LineIndex::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!state->fd.valid()) {
    int error = errno;
    return fail(error == EACCES ? ErrorCode::kPermission : ErrorCode::kNotFound,
                "failed to open {}: {}", path, std::strerror(error));
  }
  elf_version(EV_CURRENT);
  state->dwarf.reset(dwarf_begin(state->fd.get(), DWARF_C_READ));
  if (!state->dwarf)
    return fail(ErrorCode::kNotFound, "{} has no debug information: {}", path, dwarf_errmsg(-1));
  state->read_units();
  if (state->units.empty()) return fail(ErrorCode::kNotFound, "{} has no debug information", path);
  return LineIndex(std::move(state));
}

LineIndex::LineIndex(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineIndex::LineIndex(LineIndex&&) noexcept = default;
LineIndex& LineIndex::operator=(LineIndex&&) noexcept = default;
LineIndex::~LineIndex() = default;

std::optional<SourceLine> LineIndex::find(ElfAddr address) {
  Unit* unit = state_->unit_at(address.value);
  if (unit == nullptr) return std::nullopt;
  const LineTable& lines = state_->lines_of(*unit);
  const LineTable::Row* row = lines.find(address.value);
  if (row == nullptr) return std::nullopt;
  return SourceLine{lines.file(*row), row->line};
}

std::vector<InlineFrame> LineIndex::inline_frames(ElfAddr address) {
  std::vector<InlineFrame> frames;
  Unit* unit = state_->unit_at(address.value);
  if (unit == nullptr) return frames;
  if (!unit->functions) unit->functions = FunctionTree::read(unit->die);
  SourceLine at = find(address).value_or(SourceLine{});
  for (uint32_t id = unit->functions->find(address.value); id != FunctionTree::kNone;) {
    const FunctionTree::Function& function = unit->functions->function(id);
    frames.push_back({function.name, at, function.inlined});
    at = {function.call_file, function.call_line};
    id = function.parent;
  }
  return frames;
}

}  // namespace sonde
