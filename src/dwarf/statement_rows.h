// StatementRows: all rows of a unit's line table, in the order of addresses, with what says where a
// statement begins. (LineTable has only what a lookup by address needs.)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dwarf/line_program.h"

namespace sonde {

class StatementRows {
 public:
  /// Of the unit itself; of split ones the skeleton's.
  explicit StatementRows(const DwarfUnit& unit);

  /// By address; at one address in the order of the program, ends of sequences first.
  [[nodiscard]] std::span<const LineProgram::Row> rows() const { return rows_; }
  /// The path of a file by its number; empty if there is no such file.
  [[nodiscard]] const std::string& path(uint64_t file) const;
  /// The first row of a statement that begins at exactly this address; null if none does.
  [[nodiscard]] const LineProgram::Row* statement_at(uint64_t address) const;

 private:
  std::vector<LineProgram::Row> rows_;
  std::vector<std::string> paths_;
};

}  // namespace sonde
