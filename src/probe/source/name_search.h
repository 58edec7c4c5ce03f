// NameSearch: which units of a file can have an entry of a given name, without decoding any of
// them: from an index of the file's functions if there is one, else from the units' bytes.
//
// A name is stored once, in .debug_str, and entries refer to it by its offset; only short names may
// be in the entries themselves. So a unit without the bytes of such an offset, and without the
// name, has no such entry. Random matches cost the time to read a unit that has none.
//
// Units are searched when they are asked for, many at a time and on all cores: who asks in the
// order of the file and stops has not searched all of it. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dwarf/dwarf_file.h"
#include "dwarf/names/function_index.h"

namespace sonde {

class UnitSearch;

class NameSearch {
 public:
  /// `name` may be followed by template arguments in the file. `index` is the file's and outlives
  /// this, or null.
  NameSearch(const DwarfFile& file, std::string_view name, const FunctionIndex* index = nullptr);
  ~NameSearch();

  /// `unit` is one of the file's.
  [[nodiscard]] bool may_name(const DwarfUnit& unit);
  /// Searches all units at once.
  void search_all() { search_to(file_.units().size()); }

 private:
  void search_to(size_t count);

  const DwarfFile& file_;
  const FunctionIndex* index_;
  std::string name_;
  std::unique_ptr<UnitSearch> search_;  // null: nothing can be ruled out
  std::vector<char> hit_;               // by the unit's index in the file
};

}  // namespace sonde
