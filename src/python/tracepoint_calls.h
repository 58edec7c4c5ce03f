// Calls of a script's handlers for tracepoints: `SYSTEM__EVENT(event_name, context, common_cpu, …)`
// with the event's fields as arguments, and `trace_unhandled(event_name, context, fields)` for the
// others (perf-script-python(1)).
//
// Handlers and their parameters are looked up once per event. Arguments that a handler never looks
// at are not made (it gets None), so a script that counts system calls does not pay for their
// arguments.
#pragma once

#include <functional>
#include <vector>

#include "base/string_pool.h"
#include "python/context.h"
#include "python/field_values.h"
#include "python/interpreter.h"
#include "replay/fields/trace_formats.h"

namespace sonde::python {

/// One sample of a tracepoint.
struct TracepointSample {
  EventId event;
  Bytes raw;
  uint64_t time = 0;  // ns
  uint32_t cpu = 0;
  StringId comm;
};

class TracepointCalls {
 public:
  /// What needs the session's frames is made by others, on demand.
  struct Makers {
    std::function<PyRef()> call_chain;   // a list; if not set, an empty one
    std::function<PyRef()> sample_dict;  // perf_sample_dict; null if not available
  };

  TracepointCalls(Interpreter& interpreter, ScriptContext& context, const PyRef& context_object,
                  const StringPool& strings);

  /// Looks up the handlers of events that were not known before. The features must outlive this.
  void prepare(const EventTable& events, const Features& features);
  /// Whether any handler wants perf_sample_dict, or any looks at call chains.
  [[nodiscard]] bool want_sample_dict() const;
  [[nodiscard]] bool want_chains() const;
  /// Whether samples of the event have a handler.
  [[nodiscard]] bool handles(EventId event) const {
    return events_[event.index()].handler.get() != nullptr;
  }

  /// `makers` is called for this sample only.
  Result<> call(const TracepointSample& sample, const Makers& makers);

 private:
  struct Event {
    const TracepointFormat* format = nullptr;
    PyRef handler;
    PyRef name;  // "sched__sched_switch"
    std::string name_text;
    bool has_own_handler = false;
    bool wants_sample = false;
    bool skips_chain = false;  // an old handler: it has no common_callchain
    std::vector<bool> uses;    // by argument
    std::vector<FieldReader> fields;
    std::vector<PyRef> keys;  // of the fields, for trace_unhandled
    bool is_defined = false;  // its flags and symbols, to the module Core
  };
  void prepare(Event& event);
  Result<> define_values(Event& event);
  Result<> call_own(Event& event, const TracepointSample& sample, const Makers& makers);
  Result<> call_unhandled(Event& event, const TracepointSample& sample, const Makers& makers);
  [[nodiscard]] PyRef chain(const Makers& makers) const;
  PyObject* comm_object(StringId comm);
  [[nodiscard]] PyRef common_pid(const Event& event, Bytes raw) const;

  Interpreter& interpreter_;
  ScriptContext& context_;
  PyObject* context_object_;
  const StringPool& strings_;
  const Features* features_ = nullptr;
  std::vector<TraceFormats> formats_;  // of each prepare; events refer to them
  std::vector<Event> events_;
  std::vector<PyRef> comms_;  // by StringId
  std::vector<PyRef> arguments_;
  std::vector<PyObject*> borrowed_;
};

}  // namespace sonde::python
