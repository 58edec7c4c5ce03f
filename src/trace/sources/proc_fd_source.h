// Descriptor names of processes on this machine: what /proc/PID/fd links to, and the names of
// tasks. Empty for a process that is gone or may not be inspected.
#pragma once

#include <string>

#include "trace/arguments/fd_names.h"

namespace sonde {

class ProcFdSource : public FdSource {
 public:
  /// `proc`: where procfs is mounted; tests pass another directory.
  explicit ProcFdSource(std::string proc = "/proc") : proc_(std::move(proc)) {}

  std::string fd(int32_t pid, int32_t fd) override;
  std::string working_directory(int32_t pid) override;
  std::string comm(int32_t tid) override;
  uint64_t now_ns() override;

 private:
  std::string proc_;
};

}  // namespace sonde
