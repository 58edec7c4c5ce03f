// JitObjects: the jitdumps of a recording, each as an object like any other: its addresses are
// positions in the dump, which are unique to a piece of code, however often its memory is reused.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dwarf/cfi_table.h"
#include "dwarf/line_index.h"
#include "machine/dso.h"
#include "symbol/jit_dump.h"
#include "symbol/symbol_table.h"

namespace sonde {

/// One dump, or what was appended to it while it was followed.
class JitObject {
 public:
  explicit JitObject(JitDump dump) : dump_(std::move(dump)) {}

  [[nodiscard]] const JitDump& dump() const { return dump_; }
  /// Its names are views into the dump.
  [[nodiscard]] SymbolTable symbols() const;
  /// The line of an instruction; nullopt if the compiler wrote none.
  [[nodiscard]] std::optional<SourceLine> line_at(uint64_t offset) const;
  /// Appends the functions inlined there, innermost first; none if the compiler does not say.
  void inlined_at(uint64_t offset, std::vector<std::string_view>& names) const;
  [[nodiscard]] CfiTable call_frame_information() const;

 private:
  [[nodiscard]] const JitDump::Code* code_at(uint64_t offset) const;
  /// Null if the compiler wrote none.
  [[nodiscard]] const JitDump::Line* nearest_line(uint64_t offset) const;

  JitDump dump_;
};

class JitObjects {
 public:
  /// Null if the DSO is not a jitdump. Thread-safe, except while one is being added.
  [[nodiscard]] const JitObject* of(DsoId dso) const {
    auto found = objects_.find(dso);
    return found == objects_.end() ? nullptr : found->second.get();
  }
  const JitObject& add(DsoId dso, JitDump dump) {
    auto& added = objects_[dso];
    added = std::make_unique<JitObject>(std::move(dump));
    return *added;
  }

 private:
  std::map<DsoId, std::unique_ptr<JitObject>> objects_;
};

}  // namespace sonde
