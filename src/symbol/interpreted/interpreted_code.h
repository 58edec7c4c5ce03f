// InterpretedCode: the source files of a recording whose functions an interpreter ran, each as an
// object like any other: its addresses are those that the recorder gave to lines of its functions
// (Features::interpreted_files).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dwarf/line_index.h"
#include "machine/dso.h"
#include "perfdata/header/features.h"
#include "symbol/symbol_table.h"

namespace sonde {

/// One file.
class InterpretedObject {
 public:
  /// The same file again, with other functions.
  void add(InterpretedFile file) { files_.push_back(std::move(file)); }

  /// Its names are views into this object.
  [[nodiscard]] SymbolTable symbols() const;
  /// nullopt if the line is not known. Its path is a view into this object.
  [[nodiscard]] std::optional<SourceLine> line_at(uint64_t address) const;

 private:
  std::vector<InterpretedFile> files_;  // by address
};

class InterpretedCode {
 public:
  /// Takes over what a recording says; its mappings must be known to the table.
  void add(const std::vector<InterpretedFile>& files, const DsoTable& dsos);
  /// Null if the DSO is no such file.
  [[nodiscard]] const InterpretedObject* of(DsoId dso) const {
    auto found = objects_.find(dso);
    return found == objects_.end() ? nullptr : &found->second;
  }

 private:
  std::map<DsoId, InterpretedObject> objects_;
};

}  // namespace sonde
