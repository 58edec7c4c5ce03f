#include "cmd/event_selection.h"

#include "base/text.h"
#include "cmd/event_making.h"
#include "event/event_parser.h"
#include "event/pfm.h"

namespace sonde {
namespace {

/// Cgroups are assigned in order to the events that have none yet; a single one to all of them.
Result<> add_cgroups(std::string_view list, EventSelection::Chosen& chosen) {
  size_t events = chosen.events.size();
  if (events == 0) return fail(ErrorCode::kUsage, "must define events before cgroups");
  std::vector<std::string_view> names = split(list, ',');
  if (chosen.cgroups.size() + names.size() > events)
    return fail(ErrorCode::kUsage, "-G {}: there are more cgroups than events before it", list);
  for (std::string_view name : names) chosen.cgroups.emplace_back(name);
  if (names.size() == 1) chosen.cgroups.resize(events, std::string(names[0]));
  return {};
}

}  // namespace

void EventSelection::declare(FlagTable& flags) {
  flags.call('e', "event", "event", "event selector. use 'perf list' to list available events",
             [this](std::string_view text) -> Result<> {
               then([this, text = std::string(text)](Chosen& chosen, Env& env) {
                 return parse(text, chosen.events, env);
               });
               return {};
             });
  flags.call(0, "pfm-events", "event",
             "libpfm4 event selector. use 'perf list pfm' to list available events",
             [this](std::string_view text) -> Result<> {
               then([text = std::string(text)](Chosen& chosen, Env& env) -> Result<> {
                 chosen.events.append(TRY(parse_pfm_events(text, env.tool)));
                 return {};
               });
               return {};
             });
  flags.call(0, "filter", "filter", "event filter", [this](std::string_view text) -> Result<> {
    then([text = std::string(text)](Chosen& chosen, Env&) {
      return chosen.events.add_filter(text);
    });
    return {};
  });
  flags.call('G', "cgroup", "name", "monitor event in cgroup name only",
             [this](std::string_view text) -> Result<> {
               names_cgroups_ = true;
               then([text = std::string(text)](Chosen& chosen, Env&) {
                 return add_cgroups(text, chosen);
               });
               return {};
             });
}

void EventSelection::serve(const TargetOptions& target, int verbose, Env& env) {
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  made_ = make_event_maker(env, target, compiler_, tracefs, verbose);
}

Result<> EventSelection::settle(Chosen chosen, Env& env) const {
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
                       .maker = made_.get()};
  return parse_events(text, sources, list);
}

}  // namespace sonde
