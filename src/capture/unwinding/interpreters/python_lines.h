// The lines of a code object of CPython, from its location table.
//
// The format is that of Objects/locations.md in CPython 3.11 and later: entries that each cover one
// to eight code units and say by how much the line differs from that of the entry before.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"

namespace sonde {

class PythonLines {
 public:
  /// `table` may end before its entries do: code units beyond it have no line. Anything else that
  /// makes no sense ends the table.
  PythonLines(Bytes table, uint32_t first_line);

  /// The line of a code unit; nullopt if there is none.
  [[nodiscard]] std::optional<uint32_t> line_at(uint32_t unit) const;
  /// The smallest and the largest line; `first_line` is among them.
  [[nodiscard]] uint32_t lowest() const { return lowest_; }
  [[nodiscard]] uint32_t highest() const { return highest_; }

 private:
  static constexpr uint32_t kNone = 0;
  struct Range {
    uint32_t end;  // the first code unit after it
    uint32_t line;
  };
  std::vector<Range> ranges_;
  uint32_t lowest_, highest_;
};

}  // namespace sonde
