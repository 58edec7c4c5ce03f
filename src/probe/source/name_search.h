// NameSearch: which units of a file can have an entry of a given name, without decoding any of
// them.
//
// A name is stored once, in .debug_str, and entries refer to it by its offset; only short names may
// be in the entries themselves. So a unit without the bytes of such an offset, and without the
// name, has no such entry. Random matches cost the time to read a unit that has none.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "dwarf/dwarf_file.h"

namespace sonde {

class NameSearch {
 public:
  /// `name` may be followed by template arguments in the file.
  NameSearch(const DwarfFile& file, std::string_view name);

  [[nodiscard]] bool may_name(const DwarfUnit& unit) const;

 private:
  const DwarfFile& file_;
  bool is_anywhere_ = false;  // nothing can be ruled out
  std::vector<char> hit_;     // by the unit's index in the file
};

}  // namespace sonde
