// The build-id cache, ~/.debug: a copy or link of every object that recordings hit, so that they
// can still be reported after the object has changed or gone. The layout is perf's; both tools
// share the cache:
//   ~/.debug/usr/bin/true/<build id>/elf               the object
//                                    debug             its separate debug file, where there is one
//                                    probes            its USDT probes, as `list sdt` reads them
//   ~/.debug/[kernel.kallsyms]/<build id>/kallsyms     the kernel's symbols
//   ~/.debug/[vdso]/<build id>/vdso
//   ~/.debug/.build-id/ab/cdef…  →  ../../usr/bin/true/<build id>
//
// Files are created atomically, so several recordings may fill it at once.
//
//   BuildIdCache cache(build_id_directory(env));
//   TRY(cache.add({.path = "/usr/bin/true", .build_id = id, .file = "/usr/bin/true"}));
//   cache.file(id, "elf")    // ~/.debug/.build-id/ab/cdef…/elf
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/env.h"
#include "base/error.h"

namespace sonde {

/// The cache directory: `given`, else --buildid-dir and PERF_BUILDID_DIR, else buildid.dir of the
/// perfconfig, else ~/.debug. Empty if there is not even a home: then there is no cache.
std::string build_id_directory(const Env& env, std::string_view given = {});

struct CachedObject {
  std::string path;             // as on its own machine: "/usr/bin/true", "[vdso]"
  std::string build_id;         // raw bytes
  std::string file = {};        // to be linked, or copied if it cannot be
  Bytes content = {};           // instead of a file
  std::string debug_file = {};  // its separate debug file; empty: none
  std::optional<std::string> probes = std::nullopt;  // text of the file `probes`
};

class BuildIdCache {
 public:
  explicit BuildIdCache(std::string directory) : directory_(std::move(directory)) {}
  [[nodiscard]] const std::string& directory() const { return directory_; }

  enum class Added : uint8_t { kNew, kWasThere };
  /// Adds an object unless one with its build id exists. Errors: kIo (a full disk, an unwritable
  /// directory), kFailed for a build id that is too short.
  Result<Added> add(const CachedObject& object) const;
  /// The same, but first removes what exists under this build id.
  Result<> replace(const CachedObject& object) const;
  /// Removes what is stored under this build id. False if there is nothing.
  Result<bool> remove(std::string_view build_id) const;

  struct Entry {
    std::string build_id;  // raw bytes
    std::string path;      // of the object, when it was added
  };
  /// All entries, by build id; also those whose files have been removed.
  [[nodiscard]] std::vector<Entry> entries() const;
  /// The build ids that objects of this path have had.
  [[nodiscard]] std::vector<std::string> build_ids_of(std::string_view path) const;

  /// The file of that name (elf, debug, vdso, kallsyms, probes) of an object; it may not exist.
  [[nodiscard]] std::string file(std::string_view build_id, std::string_view name) const;
  /// Whether the object itself exists: its `elf` (or vdso) has this build id; a kernel's symbols
  /// have none to compare.
  [[nodiscard]] bool holds(std::string_view build_id) const;

 private:
  [[nodiscard]] std::string link_of(std::string_view build_id) const;
  [[nodiscard]] Result<> fill(const CachedObject& object, const std::string& directory) const;

  std::string directory_;
};

/// The name under which the cache keeps an object: "kallsyms", "vdso" or "elf".
std::string_view cached_name(std::string_view path);

/// Where an object's separate debug file is looked up by its build id: "/usr/lib/debug/
/// .build-id/ab/cdef….debug".
std::string debug_file_of(std::string_view build_id);

}  // namespace sonde
