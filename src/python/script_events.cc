#include "python/script_events.h"

#include <algorithm>
#include <array>

#include "perfdata/records/sideband.h"

namespace sonde::python {
namespace {

constexpr std::array kRecordHandlers = {"context_switch", "throttle", "unthrottle",
                                        "auxtrace_error"};

/// An id as perf's int: -1 if it is not recorded.
PyRef id_object(uint32_t id) {
  return signed_object(static_cast<int32_t>(id));
}
PyRef truth(bool value) {
  return PyRef(py().PyBool_FromLong(value ? 1 : 0));
}

template <typename... Parts>
std::vector<PyRef> list_of(Parts... parts) {
  std::vector<PyRef> list;
  (list.push_back(std::move(parts)), ...);
  return list;
}

}  // namespace

ScriptEvents::ScriptEvents(Interpreter& interpreter, ScriptContext& context)
    : interpreter_(interpreter),
      context_(context),
      process_event_(interpreter.handler("process_event")) {}

bool ScriptEvents::wants_records() const {
  if (exports_rows() && has("context_switch_table")) return true;
  return std::ranges::any_of(kRecordHandlers, [this](const char* name) { return has(name); });
}

const ScriptEvents::Handler& ScriptEvents::handler(const std::string& name) {
  auto [known, is_new] = handlers_.try_emplace(name);
  if (!is_new) return known->second;
  known->second.function = interpreter_.handler(name.c_str());
  if (known->second.function) known->second.signature = signature_of(known->second.function.get());
  return known->second;
}

Result<> ScriptEvents::call_if_there(const std::string& name, std::vector<PyRef> arguments) {
  const Handler& known = handler(name);
  if (!known.function) return {};
  auto taken = static_cast<size_t>(known.signature.count);
  if (!known.signature.takes_any && taken < arguments.size()) arguments.resize(taken);
  return interpreter_.call_owned(known.function.get(), name, std::move(arguments));
}

Result<> ScriptEvents::process_event(PyRef dict) {
  std::array<PyObject*, 1> arguments{dict ? dict.get() : py().none};
  return interpreter_.call(process_event_.get(), "process_event", arguments);
}

Result<> ScriptEvents::record(const OtherRecord& record, const SampleLayout& layout) {
  const RecordView& view = record.view;
  SampleId who = view.type < abi::kRecordUserStart ? decode_trailing_id(view, layout) : SampleId();
  switch (view.type) {
    case abi::kRecordSwitch:
    case abi::kRecordSwitchCpuWide: {
      auto change = decode_as<SwitchRecord>(view, layout);
      if (!change) return {};
      uint32_t other_pid = change->cpu_wide ? change->other_pid : UINT32_MAX;
      uint32_t other_tid = change->cpu_wide ? change->other_tid : UINT32_MAX;
      return call_if_there(
          "context_switch",
          list_of(number_object(record.time), id_object(who.cpu), id_object(who.pid),
                  id_object(who.tid), id_object(other_pid), id_object(other_tid), signed_object(-1),
                  truth(change->out), truth(change->preempt), signed_object(0), signed_object(-1)));
    }
    case abi::kRecordThrottle:
    case abi::kRecordUnthrottle:
      return call_if_there(view.type == abi::kRecordThrottle ? "throttle" : "unthrottle",
                           list_of(number_object(record.time), id_object(who.cpu),
                                   id_object(who.pid), id_object(who.tid)));
    case abi::kRecordAuxtraceError: {
      auto error = decode_user<AuxtraceErrorRecord>(view);
      if (!error) return {};
      return call_if_there(
          "auxtrace_error",
          list_of(number_object(error->type), number_object(error->code), id_object(error->cpu),
                  id_object(error->pid), id_object(error->tid), number_object(error->ip),
                  number_object(error->time), text_object(error->message),
                  number_object(view.cpu_mode()), number_object(error->machine_pid),
                  id_object(error->vcpu)));
    }
    default:
      return {};
  }
}

}  // namespace sonde::python
