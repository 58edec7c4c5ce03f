// A script while it runs: its handlers, and what each sample or record makes of them. Knows nothing
// of where events come from (session_run.h, tracepoint_run.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "perfdata/records/user_records.h"
#include "python/context_module.h"
#include "python/interpreter.h"
#include "python/sample_objects.h"
#include "python/tracepoint_calls.h"
#include "replay/passes/sideband_pass.h"

namespace sonde::python {

class ScriptEvents {
 public:
  ScriptEvents(Interpreter& interpreter, ScriptContext& context);

  /// Calls `trace_begin` or `trace_end`, if the script has it.
  Result<> begin() { return call_if_there("trace_begin", {}); }
  Result<> end() { return call_if_there("trace_end", {}); }

  [[nodiscard]] bool has(const char* name) const {
    return static_cast<bool>(interpreter_.handler(name));
  }
  /// Whether any handler is for records other than samples.
  [[nodiscard]] bool wants_records() const;
  /// Whether samples become rows of a database (db_export.h) instead of going to process_event.
  [[nodiscard]] bool exports_rows() const { return interpreter_.is_set("perf_db_export_mode"); }
  /// Whether there is a handler for samples of other events than tracepoints.
  [[nodiscard]] bool takes_samples() const { return static_cast<bool>(process_event_); }

  /// Hands a sample's dictionary to `process_event`.
  Result<> process_event(PyRef dict);
  /// Hands over a record if there is a handler for it; `who` is from its id block.
  Result<> record(const OtherRecord& record, const SampleLayout& layout);
  /// Calls a handler, if the script has it, with as many of the arguments as it takes.
  Result<> call_if_there(const std::string& name, std::vector<PyRef> arguments);

  Interpreter& interpreter() { return interpreter_; }
  ScriptContext& context() { return context_; }

 private:
  Interpreter& interpreter_;
  ScriptContext& context_;
  struct Handler {
    PyRef function;  // null: there is none
    Signature signature;
  };
  const Handler& handler(const std::string& name);
  std::map<std::string, Handler> handlers_;  // that were asked for
  PyRef process_event_;
};

}  // namespace sonde::python
