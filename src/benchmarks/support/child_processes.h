// ChildProcesses: processes that a benchmark starts. None outlives it: the kernel kills them when
// this one dies, and the destructor kills and reaps what is left.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/error.h"

namespace sonde {

class ChildProcesses {
 public:
  ChildProcesses() = default;
  ChildProcesses(const ChildProcesses&) = delete;
  ChildProcesses& operator=(const ChildProcesses&) = delete;
  ~ChildProcesses();

  /// Runs `work` in a new process, whose exit status is 0 if it returns true. The processes must be
  /// started by a thread that outlives them.
  Result<> start(const std::function<bool()>& work);
  /// Waits for all of them; kFailed as soon as one has failed.
  Result<> wait();

  /// The process that was started last.
  [[nodiscard]] pid_t last() const { return last_; }
  /// The largest resident size of any process that has ended.
  [[nodiscard]] long peak_memory_kb() const { return peak_memory_kb_; }

 private:
  std::vector<pid_t> running_;
  pid_t last_ = -1;
  long peak_memory_kb_ = 0;
};

/// Reads a byte from each of `count` tasks. False if a child process ends before all have written.
[[nodiscard]] bool wait_until_ready(int fd, uint64_t count);

}  // namespace sonde
