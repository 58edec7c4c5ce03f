// The files below a daemon's base directory, named as perf names them.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace sonde {

struct DaemonPaths {
  std::string base;  // absolute

  [[nodiscard]] std::string output() const { return base + "/output"; }
  [[nodiscard]] std::string lock() const { return base + "/lock"; }
  [[nodiscard]] std::string control() const { return base + "/control"; }
};

struct SessionPaths {
  std::string base;

  SessionPaths(const DaemonPaths& daemon, const std::string& name)
      : base(daemon.base + "/session-" + name) {}
  [[nodiscard]] std::string output() const { return base + "/output"; }
  [[nodiscard]] std::string control() const { return base + "/control"; }
  [[nodiscard]] std::string ack() const { return base + "/ack"; }
};

/// Removes what a daemon left there, known by its type (S_IFSOCK, S_IFIFO). Anything else is
/// somebody's, and stays.
inline void remove_left_over(const std::string& path, mode_t type) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0 && (status.st_mode & S_IFMT) == type)
    ::unlink(path.c_str());
}

}  // namespace sonde
