// What the kernel's counters say at one moment.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

/// One counter: its value, and for how long it was wanted and could run. Where the times differ,
/// it shared its hardware with others (multiplexing).
struct CounterReading {
  uint64_t value = 0, enabled_ns = 0, running_ns = 0;
  bool operator==(const CounterReading&) const = default;
};

/// All counters of one event, CPU by CPU and within a CPU thread by thread. Of an event that the
/// machine hasn't (supported: false) all are zero.
struct EventReadings {
  bool supported = true;
  std::vector<int> cpus;  // -1: any
  std::vector<CounterReading> values;

  [[nodiscard]] size_t threads() const { return cpus.empty() ? 0 : values.size() / cpus.size(); }
};

}  // namespace sonde
