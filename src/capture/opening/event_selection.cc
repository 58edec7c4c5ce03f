#include "capture/opening/event_selection.h"

#include <algorithm>

#include "base/text.h"
#include "capture/opening/owned_events_setup.h"
#include "event/parser/event_parser.h"
#include "event/pmu/pfm.h"

namespace sonde {
namespace {

/// Cgroups are assigned in order to the events that have none yet; a single one to all of them.
Result<> assign_cgroups(std::string_view list, EventSelection::Chosen& chosen) {
  size_t events = chosen.events.size();
  if (events == 0) return fail(ErrorCode::kUsage, "-G is about the events before it: put -e first");
  std::vector<std::string_view> names = split(list, ',');
  if (chosen.cgroups.size() + names.size() > events)
    return fail(ErrorCode::kUsage, "-G {}: there are more cgroups than events before it", list);
  for (std::string_view name : names) chosen.cgroups.emplace_back(name);
  if (names.size() == 1) chosen.cgroups.resize(events, std::string(names[0]));
  return {};
}

/// The events of the last -e.
std::vector<ParsedEvent*> last_events(EventList& list) {
  std::vector<ParsedEvent*> last;
  for (ParsedEvent& event : list.edit())
    if (event.option == list.events().back().option) last.push_back(&event);
  return last;
}

/// The kernel itself filters tracepoints, and PMUs that trace filter addresses.
bool needs_program(const ParsedEvent* event) {
  return event->attr.type != abi::kTypeTracepoint && !event->filters_addresses;
}

}  // namespace

void EventSelection::add_events(std::string text) {
  then([this, text = std::move(text)](Chosen& chosen, Env& env) {
    return parse(text, chosen.events, env);
  });
}

void EventSelection::add_probe(std::string definition) {
  then([this, definition = std::move(definition)](Chosen& chosen, Env& env) -> Result<> {
    Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
    std::vector<ParsedEvent> events;
    for (OwnedEvent& made : TRY(made_->make_probes(definition))) {
      ParsedEvent& event = events.emplace_back();
      event.attr.type = abi::kTypeTracepoint;
      event.attr.config = TRY(tracefs.id(made.tracepoint));
      event.attr.exclude_guest = 1;
      event.name = std::move(made.name);
      event.tracepoint = std::move(made.tracepoint);
    }
    chosen.events.append(std::move(events));
    return {};
  });
}

void EventSelection::add_pfm_events(std::string text) {
  then([text = std::move(text)](Chosen& chosen, Env& env) -> Result<> {
    chosen.events.append(TRY(parse_pfm_events(text, env.tool)));
    return {};
  });
}

void EventSelection::add_filter(std::string text) {
  then([this, text = std::move(text)](Chosen& chosen, Env&) -> Result<> {
    bool is_sampling = !counting_ && made_ != nullptr;
    if (!is_sampling || chosen.events.empty()) return chosen.events.add_filter(text);
    std::vector<ParsedEvent*> events = last_events(chosen.events);
    if (std::ranges::none_of(events, needs_program)) return chosen.events.add_filter(text);
    if (!std::ranges::all_of(events, needs_program))
      return fail(ErrorCode::kUsage,
                  "--filter '{}': it follows a -e with tracepoints and other events, whose filters "
                  "differ: give them a -e each",
                  text);
    if (events.front()->bpf_program)
      return fail(ErrorCode::kUsage,
                  "--filter '{}': these events have a filter: join the two with a comma", text);
    uint32_t program = TRY(made_->make_sample_filter(text));
    for (ParsedEvent* event : events) event->bpf_program = program;
    return {};
  });
}

void EventSelection::add_cgroups(std::string names) {
  names_cgroups_ = true;
  then([names = std::move(names)](Chosen& chosen, Env&) { return assign_cgroups(names, chosen); });
}

void EventSelection::serve(const TargetOptions& target, int verbose, Env& env) {
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  made_ = make_owned_events(env, target, compiler_, tracefs, verbose);
}

Result<> EventSelection::finalize(Chosen chosen, Env& env) const {
  for (const Step& step : steps_) TRY(step(chosen, env));
  return {};
}

Result<> EventSelection::parse(std::string_view text, EventList& list, Env& env) const {
  PmuCatalog pmus;
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  EventSources sources{.pmus = pmus,
                       .tracefs = tracefs,
                       .tool = env.tool,
                       .counting = counting_,
                       .maker = made_.get(),
                       .vendor = &vendor(env)};
  return parse_events(text, sources, list);
}

VendorEvents& EventSelection::vendor(const Env& env) const {
  if (vendor_ == nullptr) vendor_ = std::make_unique<VendorEvents>(env);
  return *vendor_;
}

}  // namespace sonde
