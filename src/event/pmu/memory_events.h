// Events that sample memory accesses with their addresses, as `mem record` and `c2c record` call
// them: load latencies and precise stores of Intel (event/pmu names in sysfs), IBS of AMD, SPE of
// Arm.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

struct MemoryOperations {
  bool loads = true;
  bool stores = true;
};
/// "load", "store" or both, separated by commas.
Result<MemoryOperations> parse_memory_operations(std::string_view words);

struct MemoryEvent {
  std::string name;   // "ldlat-loads"
  std::string event;  // for -e, "cpu/mem-loads,ldlat=30/P"
  MemoryOperations operations;
};

/// What the machine with this directory of PMUs has, in the order of choice.
/// `load_latency`: cycles below which loads are not sampled, where the hardware can choose.
std::vector<MemoryEvent> memory_events(
    unsigned load_latency, const std::string& devices = "/sys/bus/event_source/devices");

/// The events that cover the operations: one for both if loads and stores have none of their own.
/// The error names the events that would be needed.
Result<std::vector<MemoryEvent>> choose_memory_events(std::span<const MemoryEvent> available,
                                                      MemoryOperations wanted);

}  // namespace sonde
