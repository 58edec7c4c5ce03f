#include "dwarf/dwarf_ranges.h"

#include <dwarf.h>

#include "elf/leb128.h"

namespace sonde {
namespace {

class RangeReader {
 public:
  RangeReader(const DwarfUnit& unit, size_t limit, std::vector<CodeRange>& out)
      : unit_(unit), limit_(limit), out_(out), base_(unit.low_pc) {}

  /// .debug_ranges: pairs of addresses, relative to a base.
  void read_pairs(ByteCursor in) {
    bool is_64bit = unit_.format.address_size == 8;
    uint64_t select = is_64bit ? UINT64_MAX : UINT32_MAX;
    while (in.ok() && out_.size() < limit_) {
      uint64_t low = address(in), high = address(in);
      if (!in.ok() || (low == 0 && high == 0)) break;
      if (low == select)
        base_ = high;
      else
        add(base_ + low, base_ + high, low == 0 && base_ == 0);
    }
  }

  /// .debug_rnglists: a sequence of small instructions.
  void read_entries(ByteCursor in) {
    while (in.ok() && out_.size() < limit_) {
      uint8_t kind = in.u8();
      if (!in.ok() || kind == DW_RLE_end_of_list) break;
      switch (kind) {
        case DW_RLE_base_addressx:
          base_ = indexed(in);
          break;
        case DW_RLE_startx_endx: {
          uint64_t low = indexed(in);
          add(low, indexed(in), false);
          break;
        }
        case DW_RLE_startx_length: {
          uint64_t low = indexed(in);
          add(low, low + uleb128(in), false);
          break;
        }
        case DW_RLE_offset_pair: {
          uint64_t low = uleb128(in);
          add(base_ + low, base_ + uleb128(in), false);
          break;
        }
        case DW_RLE_base_address:
          base_ = address(in);
          break;
        case DW_RLE_start_end: {
          uint64_t low = address(in);
          add(low, address(in), false);
          break;
        }
        case DW_RLE_start_length: {
          uint64_t low = address(in);
          add(low, low + uleb128(in), false);
          break;
        }
        default:
          return;
      }
    }
  }

 private:
  uint64_t address(ByteCursor& in) const {
    return unit_.format.address_size == 8 ? in.u64() : in.u32();
  }
  uint64_t indexed(ByteCursor& in) const {
    return address_of(unit_, {DW_FORM_addrx, uleb128(in), {}}).value_or(0);
  }
  void add(uint64_t low, uint64_t high, bool is_gone) {
    if (CodeRange range{low, high}; !is_gone && is_code(range)) out_.push_back(range);
  }

  const DwarfUnit& unit_;
  size_t limit_;
  std::vector<CodeRange>& out_;
  uint64_t base_;
};

ByteCursor at(Bytes section, uint64_t offset, ByteOrder order) {
  return ByteCursor(offset < section.size() ? section.subspan(offset) : Bytes(), order);
}

}  // namespace

void read_ranges(const DwarfUnit& unit, const DwarfValue& ranges, size_t limit,
                 std::vector<CodeRange>& out) {
  ByteOrder order = unit.file->order();
  RangeReader reader(unit, limit, out);
  if (unit.format.version < 5) {
    // The lists of split units stayed in the program.
    const DwarfUnit& holder = unit.skeleton != nullptr ? *unit.skeleton : unit;
    uint64_t base = unit.skeleton != nullptr ? holder.ranges_base : 0;
    reader.read_pairs(at(holder.file->section(DwarfSection::kRanges), base + ranges.number, order));
    return;
  }
  Bytes lists = unit.file->section(DwarfSection::kRnglists);
  uint64_t offset = ranges.number;
  if (ranges.form == DW_FORM_rnglistx) {
    uint64_t header = unit.format.offset_size == 8 ? 20 : 12;
    uint64_t base = unit.rnglists_share + unit.rnglists_base.value_or(header);
    if (ranges.number > UINT32_MAX) return;
    ByteCursor in = at(lists, base + ranges.number * unit.format.offset_size, order);
    offset = base + (unit.format.offset_size == 8 ? in.u64() : in.u32());
    if (!in.ok()) return;
  } else {
    offset += unit.rnglists_share;
  }
  reader.read_entries(at(lists, offset, order));
}

void read_code(const DwarfUnit& unit, const DwarfValue& low, const DwarfValue& high,
               const DwarfValue& ranges, size_t limit, std::vector<CodeRange>& out) {
  if (ranges) return read_ranges(unit, ranges, limit, out);
  auto start = address_of(unit, low);
  if (!start || !high) return;
  uint64_t end =
      is_address_form(high.form) ? address_of(unit, high).value_or(0) : *start + high.number;
  if (is_code({*start, end})) out.push_back({*start, end});
}

void read_unit_code(const DwarfUnit& unit, size_t limit, std::vector<CodeRange>& out) {
  if (unit.ranges) {
    read_ranges(unit, unit.ranges, limit, out);
  } else if (unit.high_pc && is_code({unit.low_pc, *unit.high_pc})) {
    out.push_back({unit.low_pc, *unit.high_pc});
  }
}

}  // namespace sonde
