// BlockedThreads: threads that sleep on a futex until they are woken.
#pragma once

#include <climits>

#include "benchmarks/futex/futex_options.h"
#include "benchmarks/futex/futex_word.h"
#include "benchmarks/support/worker_threads.h"

namespace sonde {

class BlockedThreads {
 public:
  /// `word` must be 0 and stay so.
  BlockedThreads(FutexWord& word, const FutexLoadOptions& options)
      : word_(word), options_(options) {}

  /// Starts the threads and returns when all of them sleep.
  Result<> start() {
    std::vector<int> cpus = allowed_cpus();
    for (unsigned i = 0; i < options_.threads; ++i)
      TRY(threads_.start([this] { sleep(); }, cpus[i % cpus.size()]));
    threads_.release();
    threads_.wait_until_asleep();
    return {};
  }
  /// Waits for the ends of the threads, all of which have been woken.
  void join() { threads_.join(); }

 private:
  void sleep() {
    while (word_.wait(options_.flags(), 0) != 0 && errno == EINTR) {
    }
  }

  FutexWord& word_;
  const FutexLoadOptions& options_;
  WorkerThreads threads_;
};

}  // namespace sonde
