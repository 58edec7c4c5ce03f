// A thread with a few milliseconds of work.
#pragma once

#include <pthread.h>

#include <functional>
#include <optional>

namespace sonde {

/// Runs `work` on a thread that starts on another CPU than the caller's, where it may; from there
/// the kernel moves it as any other. Left alone, new threads often wait behind the one that made
/// them until the scheduler balances its queues some milliseconds later, above all in virtual
/// machines, whose idle CPUs look taken: two threads then need the time of one. The destructor
/// waits for its end.
class HelperThread {
 public:
  explicit HelperThread(std::function<void()> work);
  HelperThread(const HelperThread&) = delete;
  HelperThread& operator=(const HelperThread&) = delete;
  ~HelperThread();

 private:
  struct Start;
  std::function<void()> work_;
  std::optional<pthread_t> thread_;  // none where the system has no more threads: nothing was run
};

}  // namespace sonde
