// A thread for a few milliseconds of work.
#pragma once

#include <pthread.h>

#include <functional>
#include <optional>

namespace sonde {

/// Runs `work` on a thread that starts on another CPU than the caller's, if allowed; from there the
/// kernel moves it like any other. Otherwise, new threads often wait behind their creator until the
/// scheduler balances its queues some milliseconds later, above all in virtual machines, whose idle
/// CPUs look busy: two threads then take as long as one. The destructor waits for the thread to
/// end.
class HelperThread {
 public:
  explicit HelperThread(std::function<void()> work);
  HelperThread(const HelperThread&) = delete;
  HelperThread& operator=(const HelperThread&) = delete;
  ~HelperThread();

 private:
  struct Start;
  std::function<void()> work_;
  std::optional<pthread_t> thread_;  // none if the system has no more threads: nothing was run
};

}  // namespace sonde
