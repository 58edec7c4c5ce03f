#include "dwarf/statement_rows.h"

#include <algorithm>

namespace sonde {
namespace {

constexpr size_t kMaxRows = 1 << 24;
constexpr uint64_t kMaxFiles = 1 << 20;
const std::string kNoPath;

}  // namespace

StatementRows::StatementRows(const DwarfUnit& unit) {
  LineProgram program(unit);
  program.run([this](const LineProgram::Row& row) {
    if (rows_.size() < kMaxRows) rows_.push_back(row);
  });
  // Sequences of discarded functions begin at 0.
  std::erase_if(rows_, [](const LineProgram::Row& row) { return row.addr == 0; });
  std::ranges::stable_sort(rows_, [](const LineProgram::Row& a, const LineProgram::Row& b) {
    return a.addr != b.addr ? a.addr < b.addr : a.is_end > b.is_end;
  });
  uint64_t files = std::min(kMaxFiles, program.file_count());
  for (uint64_t i = 0; i < files; ++i) paths_.push_back(program.file(i).path());
}

const std::string& StatementRows::path(uint64_t file) const {
  return file < paths_.size() ? paths_[file] : kNoPath;
}

const LineProgram::Row* StatementRows::statement_at(uint64_t address) const {
  auto row = std::ranges::lower_bound(rows_, address, {}, &LineProgram::Row::addr);
  for (; row != rows_.end() && row->addr == address; ++row)
    if (row->is_statement && !row->is_end) return &*row;
  return nullptr;
}

}  // namespace sonde
