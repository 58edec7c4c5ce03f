#include "event/parser/event_suggest.h"

#include <algorithm>

#include "base/nearest_names.h"
#include "event/parser/event_error.h"
#include "event/pmu/event_name.h"

namespace sonde {
namespace {

void add_generic(std::span<const GenericEvent> events, std::vector<std::string>& names) {
  for (const GenericEvent& event : events) {
    names.emplace_back(event.name);
    if (!event.alias.empty()) names.emplace_back(event.alias);
  }
}

void add_cache_events(std::vector<std::string>& names) {
  for (uint64_t cache = 0; cache < 7; ++cache)
    for (uint64_t operation = 0; operation < 3; ++operation)
      for (uint64_t result = 0; result < 2; ++result) {
        std::string name = cache_event_name(cache | operation << 8 | result << 16);
        if (!name.empty()) names.push_back(std::move(name));
      }
}

}  // namespace

std::string suggest_event(std::string_view word, const EventSources& sources) {
  std::vector<std::string> names;
  add_generic(hardware_events(), names);
  add_generic(software_events(), names);
  add_cache_events(names);
  names.insert(names.end(), {"duration_time", "user_time", "system_time"});
  for (const Pmu* pmu : sources.pmus.all())
    for (const PmuAlias& alias : pmu->aliases())
      names.push_back(fmt::format("{}/{}/", pmu->name(), alias.name));
  std::vector<std::string> nearest = nearest_names(word, names);
  if (!nearest.empty()) return did_you_mean(nearest);

  // "sched_switch" without its system.
  Result<std::vector<TracepointName>> same = sources.tracefs.match("*", std::string(word));
  if (!same) return {};
  for (const TracepointName& tracepoint : *same) {
    nearest.push_back(tracepoint.system + ':' + tracepoint.name);
    if (nearest.size() == 3) break;
  }
  return did_you_mean(nearest);
}

std::string suggest_tracepoint(std::string_view system, std::string_view event,
                               const EventSources& sources) {
  std::vector<std::string> names;
  Result<std::vector<std::string>> systems = sources.tracefs.systems();
  if (!systems) return {};
  if (std::ranges::find(*systems, system) != systems->end()) {
    Result<std::vector<std::string>> events = sources.tracefs.events(std::string(system));
    if (!events) return {};
    for (const std::string& name : nearest_names(event, *events))
      names.push_back(fmt::format("{}:{}", system, name));
    if (!names.empty()) return did_you_mean(names);
  }
  Result<std::vector<TracepointName>> same = sources.tracefs.match("*", std::string(event));
  if (same)
    for (const TracepointName& tracepoint : *same)
      if (names.size() < 3) names.push_back(tracepoint.system + ':' + tracepoint.name);
  if (names.empty())
    for (const std::string& name : nearest_names(system, *systems))
      if (name != system) names.push_back(name + ":*");
  return did_you_mean(names);
}

}  // namespace sonde
