// LineProgram: parses the header of a unit's line program and runs the program (DWARF 5, section
// 6.2).
#pragma once

#include <cstdint>
#include <vector>

#include "dwarf/dwarf_file.h"
#include "dwarf/source_file.h"

namespace sonde {

class LineProgram {
 public:
  /// Reads the header; has no files if it is missing or invalid.
  explicit LineProgram(const DwarfUnit& unit);

  /// A file by its number in rows and DW_AT_call_file.
  [[nodiscard]] SourceFile file(uint64_t number) const;
  [[nodiscard]] uint64_t file_count() const { return files_.size(); }

  struct Row {
    uint64_t addr = 0;
    uint32_t file = 0;
    uint32_t line = 0;
    bool is_end = false;  // the first address after a sequence
    /// A recommended place for a breakpoint: the begin of a statement (DWARF 5, section 6.2.2).
    bool is_statement = true;
    bool ends_prologue = false;  // a breakpoint for the function's entry belongs here
  };
  /// Runs the program and calls `row(const Row&)` for each row, sequence by sequence; a damaged
  /// program ends early.
  template <typename Visit>
  void run(const Visit& row) const {
    ByteCursor in(program_, unit_.file->order());
    Row state = start();
    while (in.left() > 0 && opcode_base_ > 0) {
      if (!step(in, state)) continue;
      if (!in.ok()) break;
      row(static_cast<const Row&>(state));
      state.ends_prologue = false;
      if (state.is_end) state = start();
    }
  }

 private:
  struct File {
    std::string_view name;
    uint64_t directory = 0;
  };
  [[nodiscard]] Row start() const { return {0, 1, 1, false, default_is_statement_, false}; }
  /// Executes one instruction; true if it produced a row.
  bool step(ByteCursor& in, Row& state) const;
  bool step_extended(ByteCursor& in, Row& state) const;
  void read_header();
  void read_old_tables(ByteCursor& in);
  template <typename Add>
  void read_table(ByteCursor& in, const Add& add);

  const DwarfUnit& unit_;
  DwarfFormat format_;
  uint8_t minimum_length_ = 1;
  int8_t line_base_ = 0;
  uint8_t line_range_ = 1;
  bool default_is_statement_ = true;
  uint8_t opcode_base_ = 0;
  Bytes operand_counts_;
  std::vector<std::string_view> directories_;
  std::vector<File> files_;
  Bytes program_;
};

}  // namespace sonde
