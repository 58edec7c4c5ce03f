// The fields of a tracepoint in the form of arguments: `prev_comm: "sleep", prev_pid: 25871
// (sleep), prev_prio: 120`.
//
// Zeros are omitted, as for calls. The format follows from a field's declaration: strings in
// quotes, pointers and addresses in hexadecimal, process ids with the process's name, arrays in
// brackets, enumerators by the names that the kernel's types (BTF) give them, also if zero.
#pragma once

#include <string>

#include "base/bytes.h"
#include "event/print_fmt/tracepoint_format.h"
#include "trace/arguments/btf_text.h"
#include "trace/sources/traced_tasks.h"

namespace sonde {

/// Appends the fields. `raw` is untrusted: a field that lies outside it is omitted.
void append_fields(const TracepointFormat& format, Bytes raw, ByteOrder order,
                   const TracedTasks& tasks, BtfText& types, std::string& out);

}  // namespace sonde
