// What a sample of an event in an instruction trace says, as `script -F synth,ipc` prints it.
#pragma once

#include <string>

#include "base/bytes.h"
#include "perfdata/records/record.h"

namespace sonde::script {

/// " cbr: 20 freq:  833 MHz ( 83%)    "; nothing if `raw` is not such an event's. `kind` is the
/// event's config, a TraceEventKind.
void append_trace_event_text(uint64_t kind, Bytes raw, ByteOrder order, std::string& out);

/// " \t IPC: 0.50 (10/20) " of a sample that was made of a trace with cycles; nothing of others.
void append_ipc(const RecordView& record, std::string& out);

}  // namespace sonde::script
