// The counters of CPUs that BPF programs read, and what they make of them.
#pragma once

#include <cstdint>

namespace sonde {

/// A perf event that counts on one CPU, whatever runs there.
struct CpuCounter {
  uint32_t event;  // which of the events that are counted together
  int cpu, fd;
};

/// What came together on one CPU.
struct CpuCount {
  uint64_t value = 0, enabled_ns = 0, running_ns = 0;
};

}  // namespace sonde
