// StackSums: the samples of an event, counted in the kernel by thread and call chain (frame
// pointers) instead of being written one by one.
//
//   StackSums sums = TRY(StackSums::open({}));
//   … ioctl(fd, PERF_EVENT_IOC_SET_BPF, sums.program())      for each descriptor of the event
//   StackSumWindow window = sums.take();                from time to time
//
// The event must sample on time or hardware: the kernel accepts no such program for tracepoints.
// Samples that find no room are written by the kernel. Nothing remains when the descriptors, the
// object or the process are gone.
#pragma once

#include <cstdint>
#include <memory>

#include "base/error.h"
#include "bpf/aggregation/sum_maps.h"

namespace sonde {

struct StackSumOptions {
  bool kernel_chains = true, user_chains = true;
  bool by_cpu = false;            // separate sums for each CPU
  uint32_t depth = 127;           // addresses per chain of the kernel's; at most 127
  uint32_t most_entries = 16384;  // rows of a window (SumMaps::set_entries)
};

class StackSums {
 public:
  /// Errors say what the kernel refused, including its verifier's last words.
  static Result<StackSums> open(const StackSumOptions& options);
  StackSums(StackSums&&) noexcept;
  StackSums& operator=(StackSums&&) noexcept;
  ~StackSums();

  /// Its descriptor; owned by this object.
  [[nodiscard]] int program() const;
  [[nodiscard]] bool is_nearly_full() const;
  StackSumWindow take();

 private:
  struct Program;
  explicit StackSums(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program_;
};

}  // namespace sonde
