#include "python/tracepoint_calls.h"

#include <algorithm>
#include <array>

#include "event/print_fmt/field_format.h"
#include "python/handler_names.h"
#include "replay/fields/trace_texts.h"

namespace sonde::python {
namespace {

constexpr uint64_t kSecond_ns = 1'000'000'000;
constexpr const char* kUnhandled = "trace_unhandled";
/// Arguments before the fields.
enum Argument : uint8_t {
  kName,
  kContext,
  kCpu,
  kSeconds,
  kNanoseconds,
  kPid,
  kComm,
  kChain,
  kFields
};

}  // namespace

TracepointCalls::TracepointCalls(Interpreter& interpreter, ScriptContext& context,
                                 const PyRef& context_object, const StringPool& strings)
    : interpreter_(interpreter),
      context_(context),
      context_object_(context_object.get()),
      strings_(strings) {}

void TracepointCalls::prepare(const EventTable& events, const Features& features) {
  features_ = &features;
  if (events.size() == events_.size()) return;
  // Moving the formats would move what events refer to.
  formats_.reserve(formats_.size() + 1);
  events_.clear();
  formats_.clear();
  const TraceFormats& formats = formats_.emplace_back(events, features);
  std::vector<const TracepointFormat*> of_events;
  for (size_t i = 0; i < events.size(); ++i) of_events.push_back(formats.of(EventId(i)));
  std::vector<std::string> handlers = handler_names(of_events);
  for (size_t i = 0; i < events.size(); ++i) {
    Event& event = events_.emplace_back();
    event.format = of_events[i];
    event.name_text = std::move(handlers[i]);
    if (event.format != nullptr) prepare(event);
  }
}

void TracepointCalls::prepare(Event& event) {
  event.name = text_object(event.name_text);
  event.handler = interpreter_.handler(event.name_text.c_str());
  event.has_own_handler = static_cast<bool>(event.handler);
  if (!event.handler) event.handler = interpreter_.handler(kUnhandled);
  if (!event.handler) return;
  for (const TracepointField& field : event.format->fields()) {
    event.fields.emplace_back(field);
    event.keys.push_back(text_object(field.name));
  }
  Signature signature = signature_of(event.handler.get());
  size_t usual = event.has_own_handler ? kFields + event.fields.size() : 3;
  auto count = static_cast<size_t>(signature.count);
  event.wants_sample = count == usual + 1;
  event.skips_chain =
      event.has_own_handler && !signature.takes_any && !signature.takes_chain && count + 1 == usual;
  event.uses.assign(usual + 1, true);
  if (signature.takes_any) return;
  for (size_t i = 0; i < count; ++i) {
    size_t argument = event.skips_chain && i >= kChain ? i + 1 : i;
    if (argument < event.uses.size()) event.uses[argument] = signature.uses[i];
  }
}

bool TracepointCalls::want_sample_dict() const {
  return std::ranges::any_of(events_, &Event::wants_sample);
}

bool TracepointCalls::want_chains() const {
  return std::ranges::any_of(events_, [](const Event& event) {
    if (!event.handler) return false;
    return !event.has_own_handler || (event.uses[kChain] && !event.skips_chain) ||
           event.wants_sample;
  });
}

PyRef TracepointCalls::chain(const Makers& makers) const {
  return makers.call_chain ? makers.call_chain() : PyRef(py().PyList_New(0));
}

PyObject* TracepointCalls::comm_object(StringId comm) {
  if (!comm.valid()) return py().none;
  if (comm.index() >= comms_.size()) comms_.resize(comm.index() + 1);
  PyRef& known = comms_[comm.index()];
  if (!known) known = text_object(strings_.view(comm));
  return known ? known.get() : py().none;
}

PyRef TracepointCalls::common_pid(const Event& event, Bytes raw) const {
  const TracepointField* field = event.format->field("common_pid");
  std::optional<uint64_t> value;
  if (field != nullptr) value = field_number(*field, raw, context_.order);
  return signed_object(static_cast<int64_t>(value.value_or(0)));
}

Result<> TracepointCalls::call(const TracepointSample& sample, const Makers& makers) {
  Event& event = events_[sample.event.index()];
  if (event.format == nullptr) return {};
  if (!std::exchange(event.is_defined, true)) TRY(define_values(event));
  if (!event.handler) return {};
  context_.format = event.format;
  context_.raw = sample.raw;
  return event.has_own_handler ? call_own(event, sample, makers)
                               : call_unhandled(event, sample, makers);
}

Result<> TracepointCalls::call_own(Event& event, const TracepointSample& sample,
                                   const Makers& makers) {
  PyObject* const unused = py().none;
  arguments_.clear();
  borrowed_.assign({event.name.get(), context_object_});
  auto add = [&](size_t argument, auto&& make) {
    PyRef made;
    if (event.uses[argument]) made = make();
    borrowed_.push_back(made ? made.get() : unused);
    if (made) arguments_.push_back(std::move(made));
  };
  add(kCpu, [&] { return signed_object(static_cast<int32_t>(sample.cpu)); });
  add(kSeconds, [&] { return number_object(sample.time / kSecond_ns); });
  add(kNanoseconds, [&] { return number_object(sample.time % kSecond_ns); });
  add(kPid, [&] { return common_pid(event, sample.raw); });
  borrowed_.push_back(event.uses[kComm] ? comm_object(sample.comm) : unused);
  if (!event.skips_chain) add(kChain, [&] { return chain(makers); });
  for (size_t i = 0; i < event.fields.size(); ++i)
    add(kFields + i, [&] { return event.fields[i].read(sample.raw, context_.order); });
  if (event.wants_sample)
    add(kFields + event.fields.size(),
        [&] { return makers.sample_dict ? makers.sample_dict() : PyRef(); });
  return interpreter_.call(event.handler.get(), event.name_text, borrowed_);
}

Result<> TracepointCalls::call_unhandled(Event& event, const TracepointSample& sample,
                                         const Makers& makers) {
  PyRef fields(py().PyDict_New());
  PyObject* dict = fields.get();
  put(dict, "common_cpu", signed_object(static_cast<int32_t>(sample.cpu)));
  put(dict, "common_s", number_object(sample.time / kSecond_ns));
  put(dict, "common_ns", number_object(sample.time % kSecond_ns));
  put(dict, "common_pid", common_pid(event, sample.raw));
  put(dict, "common_comm", PyRef::share(comm_object(sample.comm)));
  put(dict, "common_callchain", chain(makers));
  for (size_t i = 0; i < event.fields.size(); ++i) {
    PyRef value = event.fields[i].read(sample.raw, context_.order);
    if (value) py().PyDict_SetItem(dict, event.keys[i].get(), value.get());
  }
  std::vector<PyRef> arguments;
  arguments.push_back(PyRef::share(event.name.get()));
  arguments.push_back(PyRef::share(context_object_));
  arguments.push_back(std::move(fields));
  if (event.wants_sample) arguments.push_back(makers.sample_dict ? makers.sample_dict() : PyRef());
  return interpreter_.call_owned(event.handler.get(), kUnhandled, std::move(arguments));
}

/// Tells the module Core, if the script imported it, the names of the event's flags and symbols.
Result<> TracepointCalls::define_values(Event& event) {
  PyRef define_flag = interpreter_.handler("define_flag_value");
  PyRef define_symbol = interpreter_.handler("define_symbolic_value");
  PyRef flag_field = interpreter_.handler("define_flag_field");
  PyRef symbolic_field = interpreter_.handler("define_symbolic_field");
  PrintTarget target;
  target.order = context_.order;
  PrintProgram program = compile_print_fmt(*event.format, target, *features_);
  for (const ValueNames& names : program.value_names(*event.format)) {
    auto arguments = [&] {
      std::vector<PyRef> made;
      made.push_back(PyRef::share(event.name.get()));
      made.push_back(text_object(names.field));
      return made;
    };
    const PyRef& define_field = names.are_flags ? flag_field : symbolic_field;
    const PyRef& define_value = names.are_flags ? define_flag : define_symbol;
    if (define_field) {
      std::vector<PyRef> field = arguments();
      if (names.are_flags) field.push_back(text_object(names.delimiter));
      TRY(interpreter_.call_owned(define_field.get(), "define_field", std::move(field)));
    }
    if (!define_value) continue;
    for (const ValueNames::Entry& entry : names.entries) {
      std::vector<PyRef> value = arguments();
      value.push_back(number_object(entry.value));
      value.push_back(text_object(entry.name));
      TRY(interpreter_.call_owned(define_value.get(), "define_value", std::move(value)));
    }
  }
  return {};
}

}  // namespace sonde::python
