#include "dwarf/line_table.h"

#include <algorithm>
#include <unordered_map>

namespace sonde {

LineTable LineTable::read(Dwarf_Die& unit) {
  LineTable table;
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (dwarf_getsrclines(&unit, &lines, &count) != 0) return table;
  std::unordered_map<const char*, uint32_t> ids;  // libdw gives the same pointer for the same file
  table.rows_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    Dwarf_Line* line = dwarf_onesrcline(lines, i);
    Dwarf_Addr addr = 0;
    int number = 0;
    bool end = false;
    if (line == nullptr || dwarf_lineaddr(line, &addr) != 0 || dwarf_lineno(line, &number) != 0 ||
        dwarf_lineendsequence(line, &end) != 0)
      continue;
    const char* file = dwarf_linesrc(line, nullptr, nullptr);
    if (!end && file == nullptr) continue;
    Row row{addr, kEnd, static_cast<uint32_t>(std::max(number, 0))};
    if (!end) {
      auto [id, added] = ids.try_emplace(file, static_cast<uint32_t>(table.files_.size()));
      if (added) table.files_.emplace_back(file);
      row.file = id->second;
    }
    // libdw sorts by address and puts the end of one sequence before the start of the next; of
    // several rows at one address the last one counts.
    if (!table.rows_.empty() && table.rows_.back().addr == addr)
      table.rows_.back() = row;
    else
      table.rows_.push_back(row);
  }
  return table;
}

const LineTable::Row* LineTable::find(uint64_t addr) const {
  auto after = std::ranges::upper_bound(rows_, addr, {}, &Row::addr);
  if (after == rows_.begin()) return nullptr;
  const Row& row = *std::prev(after);
  return row.file == kEnd ? nullptr : &row;
}

}  // namespace sonde
