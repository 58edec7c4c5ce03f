// ConfigWatch: tells when configuration files were written. Editors that replace a file instead of
// writing to it are noticed, too: the directories are watched, not the files.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

class ConfigWatch {
 public:
  /// `files` are absolute; those in directories that don't exist are not watched.
  static Result<ConfigWatch> start(const std::vector<std::string>& files);

  /// Readable when something happened in one of the directories.
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Whether one of the files was written since the last call.
  bool changed();

 private:
  explicit ConfigWatch(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
  std::map<int, std::set<std::string>> names_;  // by watched directory
};

}  // namespace sonde
