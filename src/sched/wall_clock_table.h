// How the lifetimes of tasks divide: on a CPU, waiting for one, sleeping, blocked. The four shares
// of a line add up to exactly 100.0 %.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/sink.h"
#include "bpf/sched_totals.h"

namespace sonde {

/// A line of the table.
struct TaskLife {
  uint32_t tid = 0;
  std::string name;
  uint32_t merged = 1;                     // tasks of one name
  std::array<uint64_t, 4> phases_ns = {};  // running, runnable, sleeping, blocked

  [[nodiscard]] uint64_t total_ns() const {
    return phases_ns[0] + phases_ns[1] + phases_ns[2] + phases_ns[3];
  }
};

/// The busiest first; ties by name and tid.
[[nodiscard]] std::vector<TaskLife> lives_of(const std::vector<SchedSum>& sums, bool by_name);

void write_wall_clock(Sink& out, const std::vector<TaskLife>& lives);

/// Shares in tenths of a percent that add up to 1000 (0 if all are 0): the rounding remainder goes
/// to those that lost most by it.
[[nodiscard]] std::array<uint64_t, 4> shares_of_1000(const std::array<uint64_t, 4>& parts);

}  // namespace sonde
