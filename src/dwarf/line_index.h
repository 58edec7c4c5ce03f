// LineIndex: addresses of an object to source lines and to the functions that were inlined there.
//
// Opening reads the first entry of each unit, on all cores. A unit's line program and its tree of
// functions are read when the first address inside it is asked for, or by `prepare` for many
// addresses, units side by side; they are kept as sorted arrays, so that a lookup is a binary
// search. Any thread may ask.
//
//   LineIndex index = TRY(LineIndex::open("/usr/lib/debug/.build-id/ab/cdef.debug", {}));
//   if (auto line = index.find(ElfAddr(0x1139))) fmt::print("{}:{}", line->file.last(),
//   line->line);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/ids.h"
#include "dwarf/source_file.h"
#include "elf/elf_file.h"

namespace sonde {

struct SourceLine {
  SourceFile file;
  uint32_t line = 0;
};

/// One function at an address.
struct InlineFrame {
  std::string_view
      function;   // linkage name where DWARF has one (mangled), else the plain name; may be empty
  SourceLine at;  // innermost: the address's line; outer ones: where the inner one was called
  bool inlined = false;  // false for the outermost: the function that really is there
};

/// Where the files are that debug information refers to.
struct DwarfPlaces {
  std::string root = {};  // --symfs: put before paths that the debug information tells
  std::string debug_root = "/usr/lib/debug";
  /// Asked first for a file of which the build id is known; gives its path, or an empty one.
  std::function<std::string(std::string_view build_id)> by_build_id = nullptr;
};

enum class LineParts : uint8_t { kLines, kFunctions, kBoth };

class LineIndex {
 public:
  /// Opens the DWARF of a file. kNotFound where it has none. Does not look for separate debug
  /// files: that is ObjectFinder::find_debug_info.
  static Result<LineIndex> open(const std::string& path, const DwarfPlaces& places);
  static Result<LineIndex> open(ElfFile file, const DwarfPlaces& places);
  LineIndex(LineIndex&&) noexcept;
  LineIndex& operator=(LineIndex&&) noexcept;
  ~LineIndex();

  /// An index that has the tables of an earlier pack(), which must stay and be aligned to 8. The
  /// file is opened only when an address is asked for whose unit is not among them. Nothing where
  /// the bytes make no sense.
  using OpenFile = std::function<Result<ElfFile>()>;
  static std::optional<LineIndex> restore(Bytes packed, OpenFile open, const DwarfPlaces& places);
  /// All tables that were read, to be kept on disk; nothing where no table was read since they were
  /// last packed, where it took fewer than `least_bytes` of debug information to read them (the
  /// unpacked file's too, if it had to be opened), or where what was read is not all there is.
  /// Not at the same time as anything else.
  [[nodiscard]] std::optional<std::vector<std::byte>> pack(uint64_t least_bytes) const;
  static constexpr uint32_t kPackedVersion = 1;

  /// Reads what is needed for these addresses, in parallel.
  void prepare(std::span<const ElfAddr> addresses, LineParts parts) const;

  /// The line of the instruction at `address`. Views live as long as the index.
  [[nodiscard]] std::optional<SourceLine> find(ElfAddr address) const;
  /// Innermost first; one frame, not inlined, where nothing was inlined; empty where no function is
  /// known.
  [[nodiscard]] std::vector<InlineFrame> inline_frames(ElfAddr address) const;
  /// The names of the functions inlined at an address, innermost first: what inline_frames() tells
  /// of them, without the lines.
  void inlined_functions(ElfAddr address, std::vector<std::string_view>& names) const;

 private:
  struct State;
  explicit LineIndex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
