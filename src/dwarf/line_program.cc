#include "dwarf/line_program.h"

#include <dwarf.h>

#include "elf/leb128.h"

namespace sonde {
LineProgram::LineProgram(const DwarfUnit& unit) : unit_(unit) {
  if (unit.line_offset) read_header();
}

void LineProgram::read_header() {
  Bytes section = unit_.file->section(DwarfSection::kLine);
  if (*unit_.line_offset >= section.size()) return;
  ByteCursor in(section.subspan(*unit_.line_offset), unit_.file->order());
  uint64_t length = in.u32();
  format_ = unit_.format;
  format_.offset_size = length == 0xffffffff ? 8 : 4;
  if (format_.offset_size == 8) length = in.u64();
  in = ByteCursor(in.take(length), in.order());
  auto offset = [&] { return format_.offset_size == 8 ? in.u64() : in.u32(); };
  format_.version = in.u16();
  if (format_.version < 2 || format_.version > 5) return;
  if (format_.version >= 5) {
    format_.address_size = in.u8();
    in.u8();  // size of segment selectors
  }
  uint64_t header_length = offset();
  ByteCursor header(in.take(header_length), in.order());
  minimum_length_ = header.u8();
  if (format_.version >= 4) header.u8();  // operations per instruction: 1 except on VLIW machines
  default_is_statement_ = header.u8() != 0;
  line_base_ = static_cast<int8_t>(header.u8());
  line_range_ = header.u8();
  uint8_t opcode_base = header.u8();
  operand_counts_ = header.take(opcode_base > 0 ? opcode_base - 1 : 0);
  if (format_.version >= 5) {
    read_table(header, [this](std::string_view name, uint64_t) { directories_.push_back(name); });
    read_table(header, [this](std::string_view name, uint64_t directory) {
      files_.push_back({name, directory});
    });
  } else {
    read_old_tables(header);
  }
  if (!in.ok() || !header.ok() || line_range_ == 0) return;
  opcode_base_ = opcode_base;
  program_ = in.rest();
}

/// Before DWARF 5: numbers begin at 1, and 0 is the unit itself.
void LineProgram::read_old_tables(ByteCursor& in) {
  auto text = [&in] {
    DwarfValue value = read_value(in, {.form = DW_FORM_string}, DwarfFormat());
    return as_text(value.bytes);
  };
  directories_.push_back(unit_.directory);
  for (std::string_view name = text(); !name.empty(); name = text()) directories_.push_back(name);
  files_.push_back({unit_.name, 0});
  for (std::string_view name = text(); !name.empty(); name = text()) {
    files_.push_back({name, uleb128(in)});
    uleb128(in);  // time
    uleb128(in);  // size
  }
}

/// A table that describes its own columns.
template <typename Add>
void LineProgram::read_table(ByteCursor& in, const Add& add) {
  struct Column {
    uint64_t content;
    AttributeSpec spec;
  };
  std::vector<Column> columns(in.u8());
  for (Column& column : columns) {
    column.content = uleb128(in);
    column.spec.form = static_cast<uint16_t>(uleb128(in));
  }
  uint64_t count = uleb128(in);
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    std::string_view name;
    uint64_t directory = 0;
    size_t start = in.position();
    for (const Column& column : columns) {
      DwarfValue value = read_value(in, column.spec, format_);
      if (column.content == DW_LNCT_path) name = text_of(unit_, value);
      if (column.content == DW_LNCT_directory_index) directory = value.number;
    }
    if (in.position() == start) break;  // empty rows, of which there may be any number
    if (in.ok()) add(name, directory);
  }
}

SourceFile LineProgram::file(uint64_t number) const {
  if (number >= files_.size()) return {};
  const File& file = files_[number];
  SourceFile source{unit_.directory, {}, file.name};
  if (file.directory < directories_.size()) source.directory = directories_[file.directory];
  if (source.directory == source.base) source.base = {};
  return source;
}

bool LineProgram::step(ByteCursor& in, Row& state) const {
  auto advance = [&](uint64_t by) { state.addr += by * minimum_length_; };
  uint8_t opcode = in.u8();
  if (opcode >= opcode_base_) {
    auto adjusted = static_cast<uint8_t>(opcode - opcode_base_);
    advance(adjusted / line_range_);
    state.line += static_cast<uint32_t>(line_base_ + adjusted % line_range_);
    return true;
  }
  switch (opcode) {
    case 0:
      return step_extended(in, state);
    case DW_LNS_copy:
      return true;
    case DW_LNS_advance_pc:
      advance(uleb128(in));
      return false;
    case DW_LNS_advance_line:
      state.line += static_cast<uint32_t>(sleb128(in));
      return false;
    case DW_LNS_set_file:
      state.file = static_cast<uint32_t>(uleb128(in));
      return false;
    case DW_LNS_const_add_pc:
      advance(static_cast<uint64_t>(255 - opcode_base_) / line_range_);
      return false;
    case DW_LNS_negate_stmt:
      state.is_statement = !state.is_statement;
      return false;
    case DW_LNS_set_prologue_end:
      state.ends_prologue = true;
      return false;
    case DW_LNS_fixed_advance_pc:
      state.addr += in.u16();
      return false;
    default:
      // Only its number of operands is known.
      for (auto left = static_cast<uint8_t>(operand_counts_[opcode - 1]); left > 0; --left)
        uleb128(in);
      return false;
  }
}

bool LineProgram::step_extended(ByteCursor& in, Row& state) const {
  uint64_t length = uleb128(in);
  ByteCursor operation(in.take(length), in.order());
  if (length == 0 || !in.ok()) return false;
  switch (operation.u8()) {
    case DW_LNE_end_sequence:
      state.is_end = true;
      return true;
    case DW_LNE_set_address:
      state.addr = operation.left() >= 8 ? operation.u64() : operation.u32();
      return false;
    default:
      return false;
  }
}

}  // namespace sonde
