// TemporaryDirectory: where a command puts a recording that it does not keep.
//
// The directory is locked (flock) as long as it is used. A killed process removes nothing, but the
// kernel releases its locks: what has none is removed by the next command that makes one there.
#pragma once

#include <string>
#include <utility>

#include "base/env.h"
#include "base/file.h"

namespace sonde {

/// A directory that is removed with its contents at the end of its lifetime.
class TemporaryDirectory {
 public:
  /// Below $TMPDIR, or /tmp.
  static Result<TemporaryDirectory> make(const Env& env);
  static Result<TemporaryDirectory> make_below(const std::string& parent);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept
      : path_(std::exchange(other.path_, std::string())), lock_(std::move(other.lock_)) {}
  ~TemporaryDirectory();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  TemporaryDirectory(std::string path, Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  Fd lock_;
};

}  // namespace sonde
