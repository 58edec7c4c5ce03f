// Worker: what takes longer than a key may wait is made on a thread of its own, one thing at a
// time; of several things that are asked for the newest wins.
//
//   Worker<Table> worker(pages.wake());
//   worker.start([options] { return make_table(options); });      // at once
//   if (std::optional<Table> table = worker.take()) …             // after the wake rang
//
// Work gets all it needs by value, or by reference to what nobody changes while the worker lives;
// what it makes is handed over. All calls are from one thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "tui/wake.h"

namespace sonde::tui {

template <typename T>
class Worker {
 public:
  /// `wake` rings when something is made.
  explicit Worker(const Wake& wake)
      : wake_(wake), thread_([this](const std::stop_token& stop) { run(stop); }) {}
  /// Waits for what is being made.
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
  /// Nothing is wanted any more. What is being made comes to its end, and is thrown away.
  void cancel() {
    std::scoped_lock lock(mutex_);
    wanted_ = 0;
    waiting_ = nullptr;
    made_.reset();
  }
  /// Whether something is wanted and not made yet.
  [[nodiscard]] bool busy() const {
    std::scoped_lock lock(mutex_);
    return wanted_ != 0 && !made_;
  }
  [[nodiscard]] std::optional<T> take() {
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
      std::optional<T> made(work());
      work = nullptr;
      lock.lock();
      if (number == wanted_) {
        made_ = std::move(made);
        wake_.ring();
      }
      lock.unlock();
      made.reset();  // what nobody wants may take its time to go
      lock.lock();
    }
  }

  const Wake& wake_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::move_only_function<T()> waiting_;  // not begun yet
  std::optional<T> made_;
  uint64_t started_ = 0, wanted_ = 0;  // numbers of what was asked for; 0: nothing
  std::jthread thread_;                // last: ends before the others do
};

}  // namespace sonde::tui
