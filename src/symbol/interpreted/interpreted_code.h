// InterpretedCode: the source files of a recording whose functions an interpreter ran, each as an
// object like any other: its addresses are those that the recorder gave to lines of its functions
// (Features::interpreted_files).
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "dwarf/line_index.h"
#include "machine/dso.h"
#include "perfdata/header/features.h"
#include "symbol/symbol_table.h"

namespace sonde {

/// One file. What is known of it grows while a pipe or a live profile is read; parts that are known
/// stay as they are.
class InterpretedObject {
 public:
  /// The same file again, with other functions, if it has any.
  void add(const InterpretedFile& file);
  [[nodiscard]] size_t parts() const { return parts_.size(); }

  /// Of the parts from this number on. Its names are views into this object.
  [[nodiscard]] SymbolTable symbols(size_t first_part = 0) const;
  /// nullopt if the line is not known. Its path is a view into this object.
  [[nodiscard]] std::optional<SourceLine> line_at(uint64_t address) const;

 private:
  std::deque<InterpretedFile> parts_;
  std::map<uint64_t, const InterpretedFile*> by_address_;  // of its first function
};

class InterpretedCode {
 public:
  /// More of what a recording says.
  void add(std::span<const InterpretedFile> files);
  /// To be called when files, or objects of the table, have been added.
  void find_in(const DsoTable& dsos);
  /// Null if the DSO is no such file.
  [[nodiscard]] const InterpretedObject* of(DsoId dso) const {
    auto found = by_dso_.find(dso);
    return found == by_dso_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, InterpretedObject, std::less<>> objects_;  // by path
  std::map<DsoId, const InterpretedObject*> by_dso_;
};

}  // namespace sonde
