#include "histogram/live_events.h"

#include <algorithm>

#include "base/blocked_signals.h"
#include "base/text.h"
#include "probe/events/probe_events.h"
#include "probe/requested_probe.h"
#include "probe/source/plan_probes.h"
#include "probe/usdt/plan_usdt.h"

namespace sonde {
namespace {

constexpr size_t kMostEvents = 64;

class LiveEventFinder {
 public:
  LiveEventFinder(const std::string& name, const EventSearch& search, Tracefs& tracefs)
      : name_(name), search_(search), tracefs_(tracefs) {}

  Result<std::vector<LiveEvent>> find(const std::vector<std::string>& variables) {
    if (name_.starts_with('%') || name_.starts_with("sdt_")) return usdt();
    if (names_function(name_, search_)) return function(variables);
    size_t colon = name_.find(':');
    if (colon == std::string::npos)
      return fail(ErrorCode::kBadEvent,
                  "'{}' is no event: SYSTEM:EVENT is; a function needs -x PROGRAM, or --kernel if "
                  "it is one of the kernel's",
                  name_);
    std::vector<LiveEvent> found = TRY(listed_probes());
    if (!found.empty()) return found;
    return tracepoints(name_.substr(0, colon), name_.substr(colon + 1));
  }

 private:
  void note(const std::vector<std::string>& texts) const {
    if (search_.note)
      for (const std::string& text : texts) search_.note(text);
  }

  /// One event: its places may read their fields from different registers.
  Result<std::vector<LiveEvent>> of_plans(std::vector<ProbePlan> plans) const {
    LiveEvent event{.name = name_};
    for (ProbePlan& plan : plans) {
      note(plan.notes);
      event.places.push_back(std::move(plan.place));
    }
    return std::vector{std::move(event)};
  }

  Result<std::vector<LiveEvent>> function(const std::vector<std::string>& variables) const {
    std::string definition = name_;
    for (const std::string& variable : variables) definition += " " + variable;
    RequestedProbe request = TRY(parse_probe(definition));
    BlockedSignals blocked;  // reading objects may start threads
    ProbedCode code = TRY(ProbedCode::open({.executable = search_.executable}, search_.code));
    return of_plans(TRY(plan_probes(request, code, {})));
  }

  Result<std::vector<LiveEvent>> usdt() const {
    std::string text = name_;
    std::string object = search_.executable;
    if (size_t at = text.find('@'); at != std::string::npos) {
      object = text.substr(at + 1);
      text.resize(at);
    }
    RequestedProbe request = TRY(parse_probe(text.starts_with('%') ? text : "%" + text));
    BlockedSignals blocked;
    UsdtSearch where{.object = object, .file = {}, .buildid_dir = search_.usdt.buildid_dir};
    if (object.empty())
      for (const std::string& path : program_objects(search_.usdt)) {
        where.object = path;
        if (auto plans = plan_usdt(request, where)) return of_plans(std::move(*plans));
      }
    where.object = object;
    return of_plans(TRY(plan_usdt(request, where)));
  }

  /// Probes that `probe` made. The program is attached to the same places.
  Result<std::vector<LiveEvent>> listed_probes() const {
    std::vector<LiveEvent> found;
    auto all = ProbeEvents(tracefs_.path()).all();
    if (!all) return found;  // then the event cannot be read, either, and that is said
    for (ListedProbe& listed : *all) {
      std::string full = fmt::format("{}:{}", listed.event.system, listed.event.name);
      if (!glob_match(name_, full)) continue;
      auto known = std::ranges::find(found, full, &LiveEvent::name);
      if (known == found.end()) known = found.insert(known, {.name = full});
      known->places.push_back(std::move(listed.place));
    }
    return found;
  }

  Result<std::vector<LiveEvent>> tracepoints(const std::string& system, const std::string& name) {
    std::vector<TracepointName> names;
    if (has_glob(system) || has_glob(name))
      names = TRY(tracefs_.match(system, name));
    else
      names.push_back({system, name});
    if (names.empty()) return fail(ErrorCode::kBadEvent, "{}: no tracepoint matches", name_);
    if (names.size() > kMostEvents)
      return fail(ErrorCode::kBadEvent, "{}: {} tracepoints match, at most {} are possible", name_,
                  names.size(), kMostEvents);
    std::vector<LiveEvent> found;
    for (TracepointName& one : names) {
      std::string text = TRY(tracefs_.format(one));
      LiveEvent event{.name = fmt::format("{}:{}", one.system, one.name)};
      event.format = TRY(TracepointFormat::parse(text, one.system));
      event.tracepoint = std::move(one);
      found.push_back(std::move(event));
    }
    return found;
  }

  const std::string& name_;
  const EventSearch& search_;
  Tracefs& tracefs_;
};

}  // namespace

bool names_function(const std::string& name, const EventSearch& search) {
  bool is_usdt = name.starts_with('%') || name.starts_with("sdt_");
  return !is_usdt && (search.functions || !search.executable.empty());
}

Result<std::vector<LiveEvent>> find_live_events(const std::string& name,
                                                const std::vector<std::string>& variables,
                                                const EventSearch& search, Tracefs& tracefs) {
  return LiveEventFinder(name, search, tracefs).find(variables);
}

}  // namespace sonde
