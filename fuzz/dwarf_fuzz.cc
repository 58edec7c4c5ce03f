// Untrusted debug information: an ELF file as a debug file and as a split one. Whatever it
// contains, tables are sorted, lookups terminate, and a table restored from its own bytes is equal.
#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "dwarf/data_index.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/function_tree.h"
#include "dwarf/line_index.h"
#include "dwarf/line_table.h"
#include "dwarf/statement_rows.h"
#include "dwarf/unit_code.h"
#include "fuzz/fuzz_target.h"

namespace {

constexpr size_t kMaxUnits = 64;

void read_source_code(const sonde::DwarfUnit& unit) {
  sonde::UnitCode code = sonde::UnitCode::read(unit);
  uint32_t index = 0;
  for (const sonde::CodeNode& node : code.nodes()) {
    CHECK(node.end > index && node.end <= code.nodes().size());
    CHECK(node.parent == sonde::CodeNode::kNone || node.parent < index);
    (void)sonde::EntryFacts::of(code.entry(index++));
  }
  sonde::StatementRows rows(unit);
  CHECK(std::ranges::is_sorted(rows.rows(), {}, &sonde::LineProgram::Row::addr));
  for (uint64_t address = 0x400100; address < 0x400180; address += 4) {
    (void)code.functions_at(address);
    (void)rows.statement_at(address);
  }
}

void read_unit(const sonde::DwarfUnit& unit) {
  using sonde::FunctionTree;
  using sonde::LineTable;
  LineTable lines = LineTable::read(unit);
  CHECK(std::ranges::is_sorted(lines.rows(), {}, &LineTable::Row::addr));
  CHECK(LineTable::view(lines.bytes()).rows().size() == lines.rows().size());
  for (const LineTable::Row& row : lines.rows()) (void)lines.file(row).path();
  read_source_code(unit);
  FunctionTree tree = FunctionTree::read(unit, unit);
  for (const LineTable::Row& row : lines.rows()) {
    uint32_t id = tree.find(row.addr);
    if (id == FunctionTree::kNone) continue;
    FunctionTree::Function function = tree.function(id);
    (void)tree.name(function);
    (void)tree.call_file(function);
  }
}

void read_file(const uint8_t* data, size_t size, sonde::DwarfFile::Kind kind) {
  sonde::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  auto elf = sonde::ElfFile::view(bytes, "fuzz");
  if (!elf) return;
  auto file = sonde::DwarfFile::open(std::move(*elf), kind);
  if (!file) return;
  size_t read = 0;
  for (sonde::DwarfUnit& unit : (*file)->units()) {
    if (kind == sonde::DwarfFile::Kind::kSplit) (*file)->read_root(unit);
    if (read++ < kMaxUnits) read_unit(unit);
  }
}

/// Variables and types: names terminate, members are found or not, and cycles of types end, too.
void read_data(const uint8_t* data, size_t size) {
  auto elf =
      sonde::ElfFile::view({reinterpret_cast<const std::byte*>(data), size}, "/nonexistent/fuzz");
  if (!elf) return;
  auto index = sonde::DataIndex::open(std::move(*elf), {"/nonexistent", "", nullptr});
  if (!index) return;
  sonde::DataTypes& types = (*index)->types();
  for (uint64_t address = 0x400100; address < 0x400180; address += 4) {
    (void)(*index)->static_at(address);
    (void)(*index)->thread_local_at(address - 0x400100);
    (void)types.name_of((*index)->result_of(address));
    const sonde::FunctionVariables* function = (*index)->function_at(address);
    if (function == nullptr) continue;
    size_t looked_at = 0;
    for (const sonde::PlacedVariable& variable : function->variables) {
      CHECK(variable.low < variable.high);
      if (++looked_at > kMaxUnits) break;
      sonde::DataTypeId type = types.of(variable.type);
      (void)types.plain_name(type);
      for (uint64_t offset : {0u, 1u, 8u, 64u}) (void)types.field_at(type, offset, 4);
      if (auto pointee = types.pointee(type)) (void)types.field_at(*pointee, 8, 8);
    }
  }
}

}  // namespace

FUZZ_TARGET(dwarf)(const uint8_t* data, size_t size) {
  read_file(data, size, sonde::DwarfFile::Kind::kWhole);
  read_file(data, size, sonde::DwarfFile::Kind::kSplit);
  read_data(data, size);
  auto elf =
      sonde::ElfFile::view({reinterpret_cast<const std::byte*>(data), size}, "/nonexistent/fuzz");
  if (!elf) return 0;
  auto index = sonde::LineIndex::open(std::move(*elf), {"/nonexistent", ""});
  if (!index) return 0;
  for (uint64_t address = 0x400100; address < 0x400180; ++address)
    (void)index->inline_frames(sonde::ElfAddr(address));
  return 0;
}
