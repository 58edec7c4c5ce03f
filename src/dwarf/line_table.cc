#include "dwarf/line_table.h"

#include <algorithm>

#include "dwarf/dwarf_ranges.h"

namespace sonde {
namespace {

using Row = LineTable::Row;

struct Sequence {
  size_t first, count;
  uint64_t low, high;
};

/// The rows in program order, and the sequences among them.
class Collector {
 public:
  void add(uint64_t addr, uint32_t file, uint32_t line) {
    is_sorted_ &= rows.size() == first_ || rows.back().addr <= addr;
    rows.push_back({addr, file, line});
    if (file != LineTable::kEnd) return;
    auto begin = rows.begin() + static_cast<ptrdiff_t>(first_);
    if (!is_sorted_) std::stable_sort(begin, rows.end() - 1, by_address);
    Sequence sequence{first_, rows.size() - first_, rows[first_].addr, addr};
    if (is_code({sequence.low, sequence.high}) && (rows.end() - 2)->addr <= addr)
      sequences.push_back(sequence);
    else
      rows.resize(first_);
    first_ = rows.size();
    is_sorted_ = true;
  }

  std::vector<Row> rows;
  std::vector<Sequence> sequences;

 private:
  static bool by_address(const Row& a, const Row& b) { return a.addr < b.addr; }
  size_t first_ = 0;
  bool is_sorted_ = true;
};

/// Sequences in address order; of several rows at one address the last one counts, and redundant
/// rows are dropped.
std::vector<Row> merge(Collector& collected) {
  std::ranges::stable_sort(collected.sequences, {}, &Sequence::low);
  std::vector<Row> rows;
  rows.reserve(collected.rows.size());
  uint64_t end = 0;
  auto push = [&rows](const Row& row) {
    if (!rows.empty() && rows.back().addr == row.addr) rows.pop_back();
    if (!rows.empty() && rows.back().file == row.file && rows.back().line == row.line) return;
    rows.push_back(row);
  };
  for (const Sequence& sequence : collected.sequences) {
    if (sequence.low < end) continue;
    end = sequence.high;
    for (size_t i = 0; i < sequence.count; ++i) push(collected.rows[sequence.first + i]);
  }
  return rows;
}

}  // namespace

LineTable LineTable::read(const DwarfUnit& unit) {
  LineProgram program(unit);
  StringHeap strings;
  FileHeap files;
  Collector collected;
  uint32_t last_number = UINT32_MAX, last_file = 0;
  program.run([&](const LineProgram::Row& row) {
    if (row.is_end) return collected.add(row.addr, kEnd, 0);
    if (row.file != last_number) {
      last_number = row.file;
      last_file = files.add(row.file, strings, [&](uint64_t n) { return program.file(n); });
    }
    collected.add(row.addr, last_file, row.line);
  });
  std::vector<Row> rows = merge(collected);
  TablePacker packer;
  packer.put<Row>(rows);
  packer.put<PackedFile>(files.files());
  packer.put<char>(strings.chars());
  std::vector<std::byte> bytes = std::move(packer).finish();
  LineTable table = view(bytes);
  table.own_ = std::move(bytes);
  return table;
}

LineTable LineTable::view(Bytes bytes) {
  LineTable table;
  TableReader reader(bytes);
  reader.get(table.rows_);
  reader.get(table.files_);
  reader.get(table.strings_);
  return reader.ok() ? std::move(table) : LineTable();
}

const LineTable::Row* LineTable::find(uint64_t addr) const {
  auto after = std::ranges::upper_bound(rows_, addr, {}, &Row::addr);
  if (after == rows_.begin()) return nullptr;
  const Row& row = *std::prev(after);
  return row.file == kEnd ? nullptr : &row;
}

SourceFile LineTable::file(const Row& row) const {
  return FileHeap::at(files_, strings_, row.file);
}

}  // namespace sonde
