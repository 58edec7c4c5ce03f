// DataIndex: what an object's debug information says about data: the variables of the function at
// an address, the variable at an address, and their types.
//
//   auto data = TRY(DataIndex::open(TRY(ElfFile::open("/usr/lib/debug/.build-id/…")), {}));
//   const FunctionVariables* main = data->function_at(0x1139);
//
// Opening reads the first entry of each unit. A unit's outline is read on the first query for an
// address in it, and so are a function's variables; the first query for a data address reads all
// outlines. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "dwarf/data_types.h"
#include "dwarf/function_variables.h"
#include "dwarf/line_index.h"
#include "dwarf/nested_ranges.h"
#include "dwarf/split_units.h"
#include "dwarf/unit_outline.h"

namespace sonde {

/// A variable with an address, and the offset of another address inside it.
struct StaticData {
  DataTypeId type;
  uint64_t offset = 0;
};

class DataIndex {
 public:
  /// Fails with kNotFound if the file has no debug information.
  static Result<std::unique_ptr<DataIndex>> open(ElfFile elf, const DwarfLocations& places);

  [[nodiscard]] DataTypes& types() { return types_; }
  /// Null if no function is known there.
  const FunctionVariables* function_at(uint64_t address);
  /// The return type of the function whose code is at an address; void if unknown.
  DataTypeId result_of(uint64_t address);
  /// Whether a function is entered there, as opposed to an out-of-line part of one.
  bool is_entry(uint64_t address);
  std::optional<StaticData> static_at(uint64_t address) { return data_at(address, false); }
  /// The same, by the offset in the object's thread-local storage block.
  std::optional<StaticData> thread_local_at(uint64_t offset) { return data_at(offset, true); }

 private:
  struct CodeUnit {
    const DwarfUnit* unit;
    const DwarfUnit* whole = nullptr;  // with its entries, if they were split off
    bool is_read = false;
    UnitOutline outline;
  };
  struct Static {
    uint64_t address;
    DwarfEntry entry;
  };

  DataIndex(std::unique_ptr<DwarfFile> file, std::string program, std::string root);
  void find_code();
  CodeUnit* unit_at(uint64_t address);
  const UnitOutline& outline(CodeUnit& unit);
  void read_outline(CodeUnit& unit);
  std::optional<StaticData> data_at(uint64_t address, bool is_thread_local);
  void find_statics();
  std::string_view scope_of(DwarfEntry entry);
  DwarfEntry function_entry(uint64_t address);

  std::unique_ptr<DwarfFile> file_;
  SplitUnits split_;
  std::vector<CodeUnit> units_;
  std::vector<RangeBoundary> boundaries_;  // into `units_`
  std::map<const DwarfUnit*, size_t> unit_of_;
  std::map<const DwarfUnit*, UnitOutline> others_;  // units without code that have types
  std::map<std::pair<const DwarfUnit*, uint64_t>, FunctionVariables> functions_;
  bool has_statics_ = false;
  std::vector<Static> statics_, thread_locals_;  // by address
  DataTypes types_;
};

}  // namespace sonde
