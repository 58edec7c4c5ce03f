// FunctionTimes: durations of calls of a kernel function, or between two tracepoints hit by one
// thread, added up by BPF programs in the kernel.
//
//   FunctionTimes times = TRY(FunctionTimes::open({.function = "vfs_read",
//                                                  .tasks = {.all = true}}));
//   times.set_enabled(true);
//   FunctionTimes::Sums sums = times.sums();
//
// The programs are attached to a trampoline of the function (fentry), which sees every call, or to
// kprobes if the kernel has no trampolines. A call is counted when it ends, if its beginning was
// seen. The programs disappear with the process.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bpf/followed_tasks.h"

namespace sonde {

class FunctionTimes {
 public:
  static constexpr size_t kBuckets = 22;
  struct Options {
    std::string function = {};              // or:
    std::string first_event, second_event;  // names of tracepoints, without their systems
    bool nanoseconds = false;               // unit of the histogram; otherwise microseconds
    /// Buckets of `range` units between `from` and `to`, one below and one above them; 0: by
    /// powers of two.
    struct EvenBuckets {
      uint64_t range = 0, from = 0, to = 0, count = 0;
    } even_buckets = {};
    FollowedTasks tasks = {};
    std::vector<uint32_t> cpus = {};  // only calls that begin on these; empty: all
  };
  struct Sums {
    /// Calls of less than 1 unit, of 1 to 2, of 2 to 4 …, or by Options::even_buckets; the last
    /// bucket is open-ended.
    std::array<uint64_t, kBuckets> counts{};
    uint64_t calls = 0, total_ns = 0, longest_ns = 0, shortest_ns = UINT64_MAX;
  };
  /// Calls that began but were not measured: the end was not seen before the thread's next begin,
  /// or the function's recursion was too deep.
  struct Lost {
    uint64_t unended = 0, too_deep = 0;
  };

  /// Errors say what the kernel refused; for a function, in both ways.
  static Result<FunctionTimes> open(const Options& options);
  FunctionTimes(FunctionTimes&&) noexcept;
  FunctionTimes& operator=(FunctionTimes&&) noexcept;
  ~FunctionTimes();

  void set_enabled(bool enabled);
  [[nodiscard]] Sums sums() const;
  [[nodiscard]] Lost lost() const;
  /// "trampoline", "kprobe" or "tracepoint".
  [[nodiscard]] std::string_view way() const;

 private:
  struct State;
  explicit FunctionTimes(std::unique_ptr<State> state);
  static Result<FunctionTimes> open_by(std::string_view way, const Options& options);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
