// The event sonde_step//: what a stepped recording says that it is, in the terms of the intel_pt
// PMU, whose readers decode it.
#pragma once

#include <cstdint>
#include <vector>

#include "event/parser/event_list.h"
#include "perfdata/header/event_table.h"

namespace sonde {

/// Bits of the event's config, as in format/ of the intel_pt PMU.
inline constexpr uint64_t kPtEnabled = 1u << 0, kPtTsc = 1u << 10,
                          kPtNoReturnCompression = 1u << 11, kPtBranches = 1u << 13;
/// The ids of the two events of a stepped recording: the trace, and what happens to tasks.
inline constexpr uint64_t kTraceEventId = 1, kTaskEventId = 2;

/// Whether one of the events is sonde_step//.
bool is_stepped(const EventList& events);
/// The events of the file. `name`: of the first one, as the user wrote it.
std::vector<EventDesc> step_event_descriptions(const std::string& name);
/// AUXTRACE_INFO's words: times are nanoseconds of CLOCK_MONOTONIC, traces belong to threads.
/// Without a filter's text: a trace that it interrupts says so itself.
std::vector<uint64_t> step_trace_info();

}  // namespace sonde
