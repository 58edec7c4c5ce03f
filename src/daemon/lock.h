// DaemonLock: at most one daemon, perf's or Sonde's, runs on a base directory. The lock ends with
// the process, however that ends; the file remains.
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/file.h"
#include "daemon/paths.h"

namespace sonde {

class DaemonLock {
 public:
  /// Belongs to the calling process, not to its children. Fails (kFailed) if another daemon holds
  /// it, and names that.
  static Result<DaemonLock> take(const DaemonPaths& paths);

 private:
  explicit DaemonLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace sonde
