// What the functions of the module perf_trace_context answer about: the event that is being
// handled. Scripts hold it as an opaque object (`perf_script_context`, and the handlers'
// `context`).
#pragma once

#include "base/bytes.h"
#include "event/print_fmt/tracepoint_format.h"
#include "replay/session.h"
#include "script/code_bytes.h"
#include "symbol/source/source_lines.h"

namespace sonde::python {

struct ScriptContext {
  ByteOrder order = kHostOrder;
  /// Of a tracepoint; null for other events, and between events.
  const TracepointFormat* format = nullptr;
  Bytes raw;
  /// The sample, if the session resolves samples.
  const Session* session = nullptr;
  const Sample* sample = nullptr;
  const Frame* place = nullptr;
  const CodeBytes* code = nullptr;
  SourceLines* sources = nullptr;
  bool has_traces = false;  // the recording contains instruction traces
};

}  // namespace sonde::python
