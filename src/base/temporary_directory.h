// TemporaryDirectory: where a command puts a recording that it does not keep.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "base/env.h"

namespace sonde {

/// A directory that is removed with its contents at the end of its lifetime.
class TemporaryDirectory {
 public:
  /// Below $TMPDIR, or /tmp.
  static Result<TemporaryDirectory> make(const Env& env) {
    std::string path = env.variable("TMPDIR").value_or("/tmp") + "/recording-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr)
      return fail(ErrorCode::kIo, "cannot make a directory for the recording, {}: {}", path,
                  std::strerror(errno));
    return TemporaryDirectory(std::move(path));
  }
  TemporaryDirectory(TemporaryDirectory&& other) noexcept
      : path_(std::exchange(other.path_, std::string())) {}
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace sonde
