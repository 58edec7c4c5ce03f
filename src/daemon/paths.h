// The files below a daemon's base directory, named as perf names them.
#pragma once

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

}  // namespace sonde
