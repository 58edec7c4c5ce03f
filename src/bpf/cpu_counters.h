// CPU counters that BPF programs read, and the counts they accumulate.
#pragma once

#include <cstdint>

namespace sonde {

/// A perf event that counts on one CPU, whatever task runs there.
struct CpuCounter {
  int cpu, fd;
};

/// The counts accumulated on one CPU.
struct CpuCount {
  uint64_t value = 0, enabled_ns = 0, running_ns = 0;
};

}  // namespace sonde
