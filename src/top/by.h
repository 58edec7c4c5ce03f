// `top --by EVENT[:FIELD]`: every occurrence of an event, by a value of it. Tables, keys and fading
// are those of all other events: it is `-e EVENT -c 1 -n -s FIELD`, with the field checked first.
//
//   sched:sched_switch:prev_comm     a field of a tracepoint or probe
//   page-faults:u:dso                a sort key of any event
//   syscalls:sys_enter_openat        without either: by the name of the thread
#pragma once

#include <string_view>

#include "base/env.h"
#include "base/error.h"
#include "top/options.h"

namespace sonde::top {

/// Adds the event to `chosen`, and its field to the rows of `options`. A second one is another
/// field of the same event. Errors: those of -e; kUsage for a field that the event does not have,
/// with those it has.
Result<> add_by(TopOptions& options, std::string_view text, EventSelection::Chosen& chosen,
                Env& env);

}  // namespace sonde::top
