// LineIndex: addresses of an object to source lines and to the functions that were inlined there.
//
// Opening reads only the table of units. A unit's line program and its tree of functions are read
// when the first address inside it is asked for, and kept as sorted arrays, so that a batch of a
// million addresses costs a million binary searches. One LineIndex may be used by one thread at a
// time; different ones are independent.
//
//   LineIndex index = TRY(LineIndex::open("/usr/lib/debug/.build-id/ab/cdef.debug"));
//   if (auto line = index.find(ElfAddr(0x1139))) fmt::print("{}:{}", line->file, line->line);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"

namespace sonde {

struct SourceLine {
  std::string_view
      file;  // the path as the compiler knew it, made absolute with the unit's directory
  uint32_t line = 0;
};

/// One function at an address.
struct InlineFrame {
  std::string_view
      function;   // linkage name where DWARF has one (mangled), else the plain name; may be empty
  SourceLine at;  // innermost: the address's line; outer ones: where the inner one was called
  bool inlined = false;  // false for the outermost: the function that really is there
};

class LineIndex {
 public:
  /// Opens the DWARF of a file. kNotFound where it has none. Does not look for separate debug
  /// files: that is ObjectFinder::find_debug_info.
  static Result<LineIndex> open(const std::string& path);
  LineIndex(LineIndex&&) noexcept;
  LineIndex& operator=(LineIndex&&) noexcept;
  ~LineIndex();

  /// The line of the instruction at `address`. Views live as long as the index.
  [[nodiscard]] std::optional<SourceLine> find(ElfAddr address);
  /// Innermost first; one frame, not inlined, where nothing was inlined; empty where no function is
  /// known.
  [[nodiscard]] std::vector<InlineFrame> inline_frames(ElfAddr address);

 private:
  struct State;
  explicit LineIndex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
