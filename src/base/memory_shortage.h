// Running out of memory as an Error. The standard library reports it by exceptions, which nothing
// else here throws: run_command_line() turns what reaches it into one line and a status. On a
// thread of its own an exception would end the process without a word, so threads run their work
// in one of these:
//
//   Result<> stored = within_memory("the records", [&] { return store(block); });
//
//   ThreadFailure failure;                  // of several threads: the first one counts
//   … on each thread: failure.guard([&] { … });
//   … when they have ended: failure.rethrow();
#pragma once

#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace sonde {

/// "out of memory for the records: …": `what` may be empty.
[[nodiscard]] Error memory_shortage(std::string_view what);
/// The error for the exception that is being handled, which is thrown on if it says anything else.
[[nodiscard]] Error shortage_being_handled(std::string_view what);

/// The Result of `work`, or a failure if memory (or the number of threads) does not suffice.
template <typename Work>
auto within_memory(std::string_view what, Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return std::unexpected(shortage_being_handled(what));
  } catch (const std::length_error&) {
    return std::unexpected(shortage_being_handled(what));
  } catch (const std::system_error&) {
    return std::unexpected(shortage_being_handled(what));
  }
}

/// The first exception of some threads.
class ThreadFailure {
 public:
  template <typename Work>
  void guard(const Work& work) {
    try {
      work();
    } catch (const std::exception&) {
      std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
    }
  }
  /// Whether the rest of the work is not worth doing.
  [[nodiscard]] bool any() {
    std::lock_guard lock(mutex_);
    return first_ != nullptr;
  }
  void rethrow() {
    std::exception_ptr first;
    {
      std::lock_guard lock(mutex_);
      first = std::exchange(first_, nullptr);
    }
    if (first) std::rethrow_exception(first);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

/// The last resort, for what no caller can catch (destructors, threads of libraries): a process
/// that would be aborted for want of memory says so in one line and ends with status 255.
void end_quietly_without_memory();

}  // namespace sonde
