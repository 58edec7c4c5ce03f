// BenchmarkTasks: tasks that are threads or processes, as the user chose.
#pragma once

#include "benchmarks/support/child_processes.h"
#include "benchmarks/support/worker_threads.h"

namespace sonde {

class BenchmarkTasks {
 public:
  explicit BenchmarkTasks(bool threads) : as_threads_(threads) {}

  /// Processes begin at once, threads at wait() or release(). `work` returns whether it succeeded.
  Result<> start(std::function<bool()> work);
  void release();
  /// Waits for all; kFailed if one failed.
  Result<> wait();

 private:
  bool as_threads_;
  bool released_ = false;
  std::atomic<bool> failed_ = false;
  ChildProcesses processes_;
  WorkerThreads threads_;
};

}  // namespace sonde
