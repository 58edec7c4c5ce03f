// Worker: runs what takes longer than a keystroke may wait on its own thread, one job at a time; of
// several requests the newest wins.
//
//   Worker<Table> worker(pages.wake());
//   worker.start([options] { return make_table(options); });      // at once
//   if (std::optional<Table> table = worker.take()) …             // after the wake rang
//
// A job gets everything it needs by value, or by reference to what does not change while the worker
// lives; its result is handed over. All calls must come from one thread. If memory does not suffice
// for a job, take() throws what the job threw.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/memory_shortage.h"
#include "tui/terminal/wake.h"

namespace sonde::tui {

template <typename T>
class Worker {
 public:
  /// `wake` rings when a result is ready.
  explicit Worker(const Wake& wake)
      : wake_(wake), thread_([this](const std::stop_token& stop) { run(stop); }) {}
  /// Waits for the running job.
  ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void start(std::move_only_function<T()> work) {
    {
      std::scoped_lock lock(mutex_);
      waiting_ = std::move(work);
      made_.reset();
      wanted_ = ++started_;
    }
    changed_.notify_one();
  }
  /// Cancels the request. A running job is completed, and its result discarded.
  void cancel() {
    std::scoped_lock lock(mutex_);
    wanted_ = 0;
    waiting_ = nullptr;
    made_.reset();
  }
  /// Whether a requested result is not ready yet.
  [[nodiscard]] bool busy() const {
    std::scoped_lock lock(mutex_);
    return wanted_ != 0 && !made_;
  }
  [[nodiscard]] std::optional<T> take() {
    failure_.rethrow();
    std::scoped_lock lock(mutex_);
    if (!made_) return std::nullopt;
    wanted_ = 0;
    return std::exchange(made_, std::nullopt);
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return static_cast<bool>(waiting_); }) &&
           !stop.stop_requested()) {
      std::move_only_function<T()> work = std::exchange(waiting_, nullptr);
      uint64_t number = wanted_;
      lock.unlock();
      std::optional<T> made;
      failure_.guard([&] { made.emplace(work()); });
      work = nullptr;
      lock.lock();
      if (number == wanted_) {
        made_ = std::move(made);
        wake_.ring();
      }
      lock.unlock();
      made.reset();  // destroying an unwanted result may take a while
      lock.lock();
    }
  }

  const Wake& wake_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::move_only_function<T()> waiting_;  // not started yet
  std::optional<T> made_;
  uint64_t started_ = 0, wanted_ = 0;  // request numbers; 0: none
  ThreadFailure failure_;
  std::jthread thread_;  // last: ends before the others are destroyed
};

}  // namespace sonde::tui
