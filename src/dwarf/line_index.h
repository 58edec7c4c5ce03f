// LineIndex: maps addresses of an object to source lines and to the functions inlined there.
//
// Opening reads the first entry of each unit, on all cores. A unit's line program and function tree
// are read on the first query for an address inside it, or by `prepare` for many addresses, with
// units in parallel; they are kept as sorted arrays, so that a lookup is a binary search.
// Thread-safe.
//
//   LineIndex index = TRY(LineIndex::open("/usr/lib/debug/.build-id/ab/cdef.debug", {}));
//   if (auto line = index.find(ElfAddr(0x1139)))
//     fmt::print("{}:{}", line->file.last(), line->line);
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
      function;   // mangled if DWARF has a linkage name; see FunctionNames; may be empty
  SourceLine at;  // innermost: the address's line; outer ones: where the inner one was called
  bool inlined = false;  // false for the outermost: the function that physically contains the code
};

/// Where to find the files that debug information refers to.
struct DwarfLocations {
  std::string root = {};  // --symfs: prefix for paths from the debug information
  std::string debug_root = "/usr/lib/debug";
  /// Asked first for a file with a known build id; returns its path, or an empty one.
  std::function<std::string(std::string_view build_id)> by_build_id = nullptr;
};

enum class LineParts : uint8_t { kLines, kFunctions, kBoth };

class LineIndex {
 public:
  /// Opens the DWARF of a file. Fails with kNotFound if it has none. Does not look for separate
  /// debug files: ObjectFinder::find_debug_info does.
  static Result<LineIndex> open(const std::string& path, const DwarfLocations& places);
  static Result<LineIndex> open(ElfFile file, const DwarfLocations& places);
  LineIndex(LineIndex&&) noexcept;
  LineIndex& operator=(LineIndex&&) noexcept;
  ~LineIndex();

  /// Restores an index from the tables of an earlier pack(), which must stay alive and be aligned
  /// to 8. The file is opened only on a query for an address whose unit is not among them. Returns
  /// nullopt if the bytes are invalid.
  using OpenFile = std::function<Result<ElfFile>()>;
  static std::optional<LineIndex> restore(Bytes packed, OpenFile open,
                                          const DwarfLocations& places);
  /// All tables read so far, for the disk cache. Returns nullopt if no table was read since the
  /// last pack, if reading them took fewer than `least_bytes` of debug information (including the
  /// unpacked file's, if it had to be opened), or if what was read is incomplete. Must not run
  /// concurrently with anything else.
  [[nodiscard]] std::optional<std::vector<std::byte>> pack(uint64_t least_bytes) const;
  static constexpr uint32_t kPackedVersion = 2;

  /// Reads what these addresses need, in parallel.
  void prepare(std::span<const ElfAddr> addresses, LineParts parts) const;

  /// The line of the instruction at `address`. The views live as long as the index.
  [[nodiscard]] std::optional<SourceLine> find(ElfAddr address) const;
  /// Innermost first; a single frame, not inlined, if nothing was inlined; empty if no function is
  /// known.
  [[nodiscard]] std::vector<InlineFrame> inline_frames(ElfAddr address) const;
  /// The names of the functions inlined at an address, innermost first: those of inline_frames(),
  /// without the lines.
  void inlined_functions(ElfAddr address, std::vector<std::string_view>& names) const;

 private:
  struct State;
  explicit LineIndex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
