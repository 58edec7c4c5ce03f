// The verbs of `buildid-cache`. Each says what came of it with -v, and without it what went wrong;
// one file that cannot be added keeps none of the others from it.
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
    pid_t target_pid = 0;  // paths are those that this process sees
    bool force = false;
    int verbose = 0;
    std::optional<std::string> debuginfod = std::nullopt;  // servers to ask, see SymbolOptions
  };
  CacheChanges(const BuildIdCache& cache, Env& env, Options options)
      : cache_(cache), env_(env), options_(options) {}

  /// An object; or a recording, of which the objects that can be found are added.
  void add(const std::string& file);
  /// The object with this build id that is filed under the file's, under whichever path.
  void remove(const std::string& file);
  /// Every object that was ever filed under this path.
  void purge(const std::string& file);
  void purge_all();
  /// Puts the object in the place of what is filed under its build id.
  void update(const std::string& file);
  /// The kernel's code, with the `kallsyms` and `modules` beside the file.
  void add_kcore(const std::string& file);
  /// Prints what a recording names and the cache does not hold.
  Result<> print_missing(const std::string& recording);

  /// False where something could not be added or taken away.
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
