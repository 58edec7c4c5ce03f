// DebugIndex: what is kept on disk of the debug information of a large file, so that a question
// touches nothing but the units that answer it: its units (dwarf/unit_table.h) and which of them
// have which functions (dwarf/names/function_index.h).
//
// Both are made by the second command that looks for a function in the file: reading all entries
// takes longer than searching for one name, and many files are asked only once. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dwarf/names/function_index.h"
#include "dwarf/unit_table.h"
#include "elf/elf_file.h"
#include "store/object_cache.h"

namespace sonde {

class DebugIndex {
 public:
  /// Of the file, whose path is its name; `object_cache` is the directory, empty: there is none.
  DebugIndex(const ElfFile& elf, std::string object_cache);

  /// To open the file with, which this must outlive; null if they are not known.
  [[nodiscard]] const UnitTable* units() const { return units_ ? &*units_ : nullptr; }
  /// Those of the file, which is open now; null if they are not known.
  const FunctionIndex* functions(const DwarfFile& file);

 private:
  ObjectCache cache_;
  std::string build_id_;
  uint64_t stamp_ = 0;
  bool is_used_ = false;  // anything is kept of such a file
  bool knows_functions_ = false;
  std::optional<RetainedObject> kept_units_, kept_functions_;
  std::optional<UnitTable> units_;
  std::optional<FunctionIndex> functions_;
};

}  // namespace sonde
