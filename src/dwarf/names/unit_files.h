// UnitFiles: the source file that each function was compiled from, by address: the name of the unit
// (DW_AT_name) that has its code, as the compiler was given it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "dwarf/dwarf_file.h"
#include "dwarf/line_index.h"

namespace sonde {

class UnitFiles {
 public:
  /// kNotFound if the file has no debug information.
  static Result<UnitFiles> read(ElfFile file, const DwarfLocations& places);

  /// Empty where no unit tells its name: also in split debug information. Lives as long as this.
  [[nodiscard]] std::string_view at(ElfAddr address) const;

 private:
  struct Part {
    uint64_t low = 0, high = 0;  // high is exclusive
    std::string_view name;
  };
  std::unique_ptr<DwarfFile> file_;
  std::vector<Part> parts_;  // by address
};

}  // namespace sonde
