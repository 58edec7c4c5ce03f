// The tables of `sched stats report` and `diff`: what was counted on the average CPU, on each CPU
// and in each of its domains, for one recording or two side by side.
#pragma once

#include <functional>

#include "base/sink.h"
#include "sched/schedstat.h"

namespace sonde {

struct SchedstatTableOptions {
  bool descriptions = false;                     // descriptions instead of counter names
  std::function<bool(uint32_t)> shows_cpu = {};  // empty: all
};

/// The average CPU and each CPU.
void write_schedstat(Sink& out, const Schedstat& counted, const SchedstatTableOptions& options);

/// The average CPUs of two recordings of one version, and how much the second differs.
void write_schedstat_diff(Sink& out, const Schedstat& first, const Schedstat& second,
                          const SchedstatTableOptions& options);

}  // namespace sonde
