// A tracepoint's fields in the form of arguments: `prev_comm: "sleep", prev_pid: 25871 (sleep),
// prev_prio: 120`.
//
// Zeros are left out, as they are for calls. What a field is follows from its declaration: strings
// in quotes, pointers and addresses in hexadecimal, process ids with the process's name, arrays in
// brackets.
#pragma once

#include <string>

#include "base/bytes.h"
#include "event/tracepoint_format.h"
#include "trace/traced_tasks.h"

namespace sonde {

/// Appends them. `raw` is untrusted: a field that is not in it is left out.
void append_fields(const TracepointFormat& format, Bytes raw, ByteOrder order,
                   const TracedTasks& tasks, std::string& out);

}  // namespace sonde
