// The values of the kernel's counters at one moment.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde {

/// One counter: its value, and how long it was enabled and running. If the times differ, it shared
/// its hardware with others (multiplexing).
struct CounterReading {
  uint64_t value = 0, enabled_ns = 0, running_ns = 0;
  bool operator==(const CounterReading&) const = default;
};

/// All counters of one event, by CPU and then by thread. All are zero for an event that the machine
/// does not have (supported: false).
struct EventReadings {
  bool supported = true;
  std::vector<int> cpus;  // -1: any
  std::vector<CounterReading> values;

  [[nodiscard]] size_t threads() const { return cpus.empty() ? 0 : values.size() / cpus.size(); }
};

}  // namespace sonde
