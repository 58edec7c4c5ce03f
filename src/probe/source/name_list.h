// NameList: the names of an object's symbols as people write them, sorted: what `probe -F` lists.
//
// Demangling and sorting those of a large object takes far longer than reading them, so they can be
// kept on disk (store/object_cache.h) in the form in which they are listed: a line each.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "probe/name_filter.h"
#include "store/object_cache.h"
#include "symbol/demangle.h"

namespace sonde {

/// Which file a list was made of: copies with one build id may have other symbols.
struct NamedFile {
  uint64_t bytes = 0;
  int64_t changed_ns = 0;  // since 1970
  bool operator==(const NamedFile&) const = default;

  /// Nullopt if the file is not there.
  static std::optional<NamedFile> of(const std::string& path);
};

class NameList {
 public:
  static constexpr uint32_t kPackedVersion = 1;

  NameList() = default;
  /// From the linker's names; those of C++ and Rust are demangled according to the options. On all
  /// cores.
  static NameList of(const std::vector<std::string_view>& linked, bool in_kernel,
                     const DemangleOptions& demangle = {});

  /// For the disk cache.
  [[nodiscard]] std::string pack(const NamedFile& file) const;
  /// The inverse; nullopt if the bytes are invalid or were made of another file.
  static std::optional<NameList> unpack(RetainedObject kept, const NamedFile& file);

  /// The names that a filter lets through, a line each; in pieces that are views of this list.
  [[nodiscard]] std::vector<std::string_view> matching(const NameFilter& filter) const;

 private:
  [[nodiscard]] std::string_view lines() const;

  std::string own_;
  std::optional<RetainedObject> kept_;
};

}  // namespace sonde
