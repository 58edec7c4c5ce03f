// JitObjects: the jitdumps of a recording, each as an object like others: its addresses are places
// in the dump, which no two pieces of code share, however often their memory is used again.
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

/// One dump, or what was added to it while it was followed.
class JitObject {
 public:
  explicit JitObject(JitDump dump) : dump_(std::move(dump)) {}

  [[nodiscard]] const JitDump& dump() const { return dump_; }
  /// Its names are views into the dump.
  [[nodiscard]] SymbolTable symbols() const;
  /// The line of an instruction; nullopt where the compiler wrote none.
  [[nodiscard]] std::optional<SourceLine> line_at(uint64_t offset) const;
  /// Appends the functions that were inlined there, innermost first; none where the compiler does
  /// not tell.
  void inlined_at(uint64_t offset, std::vector<std::string_view>& names) const;
  [[nodiscard]] CfiTable call_frame_information() const;

 private:
  [[nodiscard]] const JitDump::Code* code_at(uint64_t offset) const;
  /// Null where the compiler wrote none.
  [[nodiscard]] const JitDump::Line* nearest_line(uint64_t offset) const;

  JitDump dump_;
};

class JitObjects {
 public:
  /// Null where the DSO is no jitdump. Any thread may ask, but not while one is added.
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
