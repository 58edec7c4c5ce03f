// StackSums: the samples of an event, counted in the kernel by thread and call chain instead of
// being written one by one. Counting goes on window by window: what one window counted is read and
// emptied while the next is counted.
//
//   StackSums sums = TRY(StackSums::open({}));
//   … ioctl(fd, PERF_EVENT_IOC_SET_BPF, sums.program())      for each descriptor of the event
//   StackSums::Window window = sums.take();             from time to time
//
// The event must sample on time or hardware: the kernel accepts no such program for tracepoints.
// Nothing remains when the descriptors, the object or the process are gone.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"

namespace sonde {

class StackSums {
 public:
  struct Options {
    bool kernel_chains = true, user_chains = true;
    bool by_cpu = false;   // separate sums for each CPU
    uint32_t depth = 127;  // addresses per chain; at most 127
    /// Of a window: of rows, and of distinct chains. A chain takes 1 KiB of kernel memory, a row
    /// 100 bytes, both twice.
    uint32_t most_entries = 4096;
  };
  struct Row {
    uint32_t pid = 0, tid = 0;
    uint32_t cpu = UINT32_MAX;  // UINT32_MAX: of any
    uint64_t ip = 0;
    uint64_t count = 0;                              // samples
    uint64_t period = 0;                             // the sum of theirs
    uint64_t last_ns = 0;                            // when the last was taken; CLOCK_MONOTONIC
    std::vector<uint64_t> kernel_chain, user_chain;  // innermost first, without context markers
  };
  struct Window {
    std::vector<Row> rows;  // by time
    // What there was no room for: samples, and chains of samples that are in the rows.
    uint64_t lost_samples = 0, lost_chains = 0;
  };

  /// Errors say what the kernel refused, including its verifier's last words.
  static Result<StackSums> open(const Options& options);
  StackSums(StackSums&&) noexcept;
  StackSums& operator=(StackSums&&) noexcept;
  ~StackSums();

  /// Its descriptor; owned by this object.
  [[nodiscard]] int program() const;
  /// Whether the window should be taken before entries are lost.
  [[nodiscard]] bool is_half_full() const;
  /// Ends the window and begins the next. Waits until no program counts in the old one any more:
  /// some milliseconds.
  Window take();

 private:
  struct Program;
  explicit StackSums(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program_;
};

}  // namespace sonde
