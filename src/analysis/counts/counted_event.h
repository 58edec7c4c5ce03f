// CountedEvent: what the analysis of counts knows about an event, whether it was counted just now
// or comes from a `stat record` file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "abi/perf_event.h"
#include "event/parser/event_list.h"
#include "perfdata/header/event_table.h"

namespace sonde {

struct CountedEvent {
  std::string name, unit, cgroup;
  double scale = 1;  // from the counter's value to the unit
  uint32_t type = 0;
  uint64_t config = 0;
  uint8_t excluded = 0;  // modes not counted: user 1, kernel 2, hypervisor 4, host 8, idle 16
  ToolEvent tool = ToolEvent::kNone;
  std::string pmu;           // of pmu/…/ events
  uint32_t option = 0;       // which -e it came from
  bool percore = false;      // term percore: hardware threads of a core are added up
  bool per_package = false;  // every CPU of a package reports the same counter
  bool snapshot = false;     // a state, not a growing count: intervals show it as is

  /// The clocks count nanoseconds and are shown in milliseconds.
  [[nodiscard]] bool is_clock() const {
    return type == abi::kTypeSoftware && config <= abi::kSwTaskClock && tool == ToolEvent::kNone;
  }
};

CountedEvent counted_event(const ParsedEvent& parsed, std::string cgroup);
CountedEvent counted_event(const EventDesc& recorded);

}  // namespace sonde
