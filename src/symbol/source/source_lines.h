// The text of source files, and which files are source. Debug information may name any file of this
// machine, /etc/shadow or somebody's key, and what is shown as source goes into pages that are made
// to be sent. So a file is read as source only if
//   - it is regular, of a bounded size, and its name ends like that of a source file; or it lies in
//     the object's compilation directory or among C++'s headers, and everybody may read it (names
//     without an ending are common there). Both what the object says and where links lead must
//     comply;
//   - each user who decides what the object says, its owners, may read it, too.
//
//   SourceLines sources(session.symbolizer());
//   std::span<const std::string_view> lines = sources.of(object, place);  // empty: not available
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "symbol/symbolizer.h"

namespace sonde {

/// What an object says of a source file besides its path.
struct SourceClaim {
  std::string directory = {};         // of the compilation; empty: not known
  std::vector<uint32_t> owners = {};  // users who decide what it says; see Symbolizer::owners_of
  auto operator<=>(const SourceClaim&) const = default;
};

/// The users who decide what is found at a path: the owners of the file and of the directories and
/// links on the way to it, each once; also Symbolizer::kUnknownOwner if everybody may put something
/// else there. Empty if there is nothing.
[[nodiscard]] std::vector<uint32_t> owners_on_the_way_to(const std::string& path);

/// Whether a name ends like that of a source file: "list.h", "x.S", "lib.rs".
[[nodiscard]] bool has_source_ending(std::string_view path);

constexpr size_t kMaxSource_bytes = size_t{64} << 20;

/// The text of a file that may be read as source. An error says why it may not.
Result<std::string> read_source(const std::string& path, const SourceClaim& claim,
                                size_t limit = kMaxSource_bytes);

/// A file's text in lines, without their ends.
struct SourceFileText {
  explicit SourceFileText(std::string whole);
  SourceFileText(const SourceFileText&) = delete;
  SourceFileText& operator=(const SourceFileText&) = delete;
  std::string text;
  std::vector<std::string_view> lines;
};

/// The source files of a session's objects, each read once. Not for several threads.
class SourceLines {
 public:
  explicit SourceLines(const Symbolizer& symbols) : symbols_(symbols) {}

  /// The lines of the file of `place`, which is in `object`; empty if it is not available, or no
  /// source.
  std::span<const std::string_view> of(DsoId object, const SourcePlace& place) {
    return of(object, place.file, place.directory);
  }
  /// `path` and `directory`: where the file and its compilation's directory are now.
  std::span<const std::string_view> of(DsoId object, const std::string& path,
                                       const std::string& directory);

 private:
  const Symbolizer& symbols_;
  std::map<uint32_t, std::vector<uint32_t>> owners_;  // by object
  std::map<std::pair<std::string, SourceClaim>, std::unique_ptr<SourceFileText>> files_;
};

}  // namespace sonde
