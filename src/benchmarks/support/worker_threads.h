// WorkerThreads: threads of a benchmark that begin together.
//
//   WorkerThreads threads;
//   for (…) TRY(threads.start([&] { work(); }, cpu));
//   threads.release();   // all are running, and begin now
//   …
//   threads.join();
//
// If one cannot be started, the destructor lets those that wait end without doing anything.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.h"

namespace sonde {

class WorkerThreads {
 public:
  WorkerThreads() = default;
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  ~WorkerThreads();

  /// `cpu`: the only one that it may run on. `work` waits for release().
  Result<> start(std::function<void()> work, std::optional<int> cpu = {});
  void release();
  /// Waits for their ends.
  void join();
  /// Waits until every thread sleeps in the kernel. Only meaningful if the work reaches, without
  /// sleeping before, a call that blocks until this thread does something.
  void wait_until_asleep() const;

  [[nodiscard]] size_t size() const { return threads_.size(); }

 private:
  struct Worker {
    WorkerThreads* all;
    std::function<void()> work;
    pthread_t handle;
    pid_t id = 0;
  };
  enum class Gate { kClosed, kOpen, kCancelled };

  static void* body(void* worker);

  std::vector<std::unique_ptr<Worker>> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t ready_ = 0;
  std::atomic<size_t> begun_ = 0;
  Gate gate_ = Gate::kClosed;
};

/// The CPUs that this process may use, ascending; never empty.
[[nodiscard]] std::vector<int> allowed_cpus();

}  // namespace sonde
