// The group that a tracer leads: events whose samples contain the newest bytes of its trace
// (--aux-sample, aux-sample-size=), write their samples into it (aux-output), or stop and start it
// (aux-action=). An event with such a term joins the group of the tracer that comes before it, if
// neither it nor what lies between them is in a group of its own; perf-intel-pt(1): "the grouping
// is implied".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/recorders/record_options.h"
#include "event/parser/event_list.h"

namespace sonde {

/// --aux-sample's value, in bytes; an empty text and 0 stand for the default.
Result<uint32_t> parse_aux_sample_size(std::string_view text);

/// Completes the group that the event `tracer` leads. Errors: it doesn't lead its group, or the
/// group is read as a whole (:S).
Result<> complete_trace_group(size_t tracer, bool of_all, EventList& list);

/// Sets how much trace the samples of each event have; returns whether any have some. Errors, as
/// perf's: of events that are not in the group, and of sizes that no record can have.
Result<bool> set_aux_samples(size_t tracer, const AuxOptions& options, EventList& list);

/// Moves the group that `leader` leads to the front of `list` (`cgroups`, by event, along).
void move_group_to_front(size_t leader, EventList& list, std::vector<std::string>& cgroups);

}  // namespace sonde
