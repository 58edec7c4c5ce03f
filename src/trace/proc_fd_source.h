// Descriptors' names of processes that run here: what /proc/PID/fd links to, and what tasks are
// called. A process that is gone, or that may not be looked at, has none.
#pragma once

#include <string>

#include "trace/fd_names.h"

namespace sonde {

class ProcFdSource : public FdSource {
 public:
  /// `proc`: where it is mounted; another place for tests.
  explicit ProcFdSource(std::string proc = "/proc") : proc_(std::move(proc)) {}

  std::string fd(int32_t pid, int32_t fd) override;
  std::string working_directory(int32_t pid) override;
  std::string comm(int32_t tid) override;

 private:
  std::string proc_;
};

}  // namespace sonde
