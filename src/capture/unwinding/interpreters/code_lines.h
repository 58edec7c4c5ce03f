// The lines of a code object of an interpreter, from its table of lines. Its formats
// (code_line_table):
//
// - CPython since 3.11: that of Objects/locations.md: entries that each cover one to eight code
// units
//   and say by how much the line differs from that of the entry before.
// - CPython 3.10: pairs of bytes, how many bytes of code a line covers and by how much it differs
// from
//   the one before; -128: no line (PEP 626, Objects/lnotab_notes.txt).
// - CPython before: pairs of bytes, how many bytes of code lie before the next line, and by how
// much
//   it differs (Objects/lnotab_notes.txt).
// - CRuby: entries with a line, and an index of the instructions that begin with the next one
//   (struct ruby_lines).
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "bpf/programs/interpreted_code.h"

namespace sonde {

class CodeLines {
 public:
  struct Form {
    uint32_t format = PYTHON_LOCATIONS;  // code_line_table
    bool is_cut = false;                 // the table has more entries than are given
  };
  /// Code units beyond a table that is cut have no line. What makes no sense ends the table.
  CodeLines(Bytes table, uint32_t first_line, Form form);

  /// The line of a code unit; nullopt if there is none.
  [[nodiscard]] std::optional<uint32_t> line_at(uint32_t unit) const;
  /// The smallest and the largest line; `first_line` is among them. Line 0 is none.
  [[nodiscard]] uint32_t lowest() const { return lowest_; }
  [[nodiscard]] uint32_t highest() const { return highest_; }

 private:
  static constexpr uint32_t kNone = 0;
  struct Range {
    uint32_t end;  // the first code unit after it
    uint32_t line;
  };
  void read_locations(Bytes table);
  void read_ranges(Bytes table);
  void read_line_starts(Bytes table, bool is_cut);
  void read_ruby(Bytes table);
  void add(uint32_t end, int64_t line, bool has_line);

  std::vector<Range> ranges_;
  uint32_t lowest_, highest_;
};

}  // namespace sonde
