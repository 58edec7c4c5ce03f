// The verbs of `buildid-cache`. With -v each reports its result, otherwise only failures; a file
// that cannot be added does not stop the others.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/env.h"
#include "base/error.h"
#include "store/build_id_cache.h"
#include "store/target_file.h"

namespace sonde {

class CacheChanges {
 public:
  struct Options {
    pid_t target_pid = 0;  // paths are as this process sees them
    bool force = false;
    int verbose = 0;
    std::optional<std::string> debuginfod = std::nullopt;  // servers to ask, see SymbolOptions
  };
  CacheChanges(const BuildIdCache& cache, Env& env, Options options)
      : cache_(cache), env_(env), options_(options) {}

  /// An object; or a recording, in which case those of its objects that can be found are added.
  void add(const std::string& file);
  /// Removes the object with the file's build id, whatever path it is filed under.
  void remove(const std::string& file);
  /// Removes every object that was ever filed under this path.
  void purge(const std::string& file);
  void purge_all();
  /// Replaces what is filed under the object's build id.
  void update(const std::string& file);
  /// The kernel's code, with the `kallsyms` and `modules` next to the file.
  void add_kcore(const std::string& file);
  /// Prints what a recording names and the cache lacks.
  Result<> print_missing(const std::string& recording);

  /// False if something could not be added or removed.
  [[nodiscard]] bool all_done() const { return all_done_; }

 private:
  void add_objects_of(const std::string& recording);
  Result<CachedObject> object_of(const std::string& file, TargetFile& opened) const;
  void say(std::string_view verb, std::string_view build_id, std::string_view file, bool done);
  void complain(std::string_view text);

  const BuildIdCache& cache_;
  Env& env_;
  Options options_;
  bool all_done_ = true;
};

}  // namespace sonde
