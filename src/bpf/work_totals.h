// WorkTotals: how long the kernel's own work takes, added up by BPF programs in the kernel:
// interrupts, softirqs, work items and tasks, by CPU.
//
//   WorkTotals sums = TRY(WorkTotals::open({.irq = true, .softirq = true}));
//   sums.set_enabled(true);   …   sums.set_enabled(false);
//   for (const WorkTotals::Row& row : sums.rows()) …
//
// Work that began before the measurement, or is still in progress at its end, is not counted. The
// programs stay attached for the lifetime of the object.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace sonde {

class WorkTotals {
 public:
  struct Options {
    bool irq = false, softirq = false, workqueue = false, sched = false;
    /// Times from raise to entry, for softirqs and work items; otherwise from entry to exit.
    bool delays = false;
    bool by_task = false;  // interrupts and softirqs by id of the interrupted task
  };
  enum class Class : uint8_t { kIrq, kSoftirq, kWorkqueue, kSched };
  struct Row {
    Class work_class = Class::kIrq;
    uint32_t cpu = 0;
    uint64_t id = 0;  // number of the interrupt or softirq, address of the work_struct, tid
    uint64_t count = 0, total_ns = 0;
    uint64_t longest_ns = 0, longest_start_ns = 0, longest_end_ns = 0;  // CLOCK_MONOTONIC
    std::string name;       // of an interrupt's handler, or a task
    uint64_t function = 0;  // of a work item: its address
  };

  /// Errors say what the kernel refused, including its verifier's last words.
  static Result<WorkTotals> open(const Options& options);
  WorkTotals(WorkTotals&&) noexcept;
  WorkTotals& operator=(WorkTotals&&) noexcept;
  ~WorkTotals();

  void set_enabled(bool enabled);
  /// Each row once, in no particular order.
  [[nodiscard]] std::vector<Row> rows() const;
  /// Intervals that there was no room for.
  [[nodiscard]] uint64_t lost() const;

 private:
  struct State;
  explicit WorkTotals(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
