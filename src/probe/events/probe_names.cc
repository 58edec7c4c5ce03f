#include "probe/events/probe_names.h"

#include <algorithm>

#include "base/text.h"

namespace sonde {
namespace {

constexpr size_t kLongestEvent =
    63;  // MAX_EVENT_NAME_LEN in kernel/trace/trace_probe.h, with its 0

std::string key_of(const TracepointName& event) {
  return fmt::format("{}:{}", event.system, event.name);
}

/// "open" and "open_2", but not "openat", for "open".
bool is_of_base(std::string_view name, std::string_view base) {
  if (!name.starts_with(base)) return false;
  name.remove_prefix(base.size());
  if (name.empty()) return true;
  return name.size() > 1 && name[0] == '_' && std::ranges::all_of(name.substr(1), is_ascii_digit);
}

}  // namespace

TracepointName wanted_name(const RequestedProbe& request, const ProbePlan& plan) {
  TracepointName name{request.group.empty() ? plan.group : request.group, plan.event};
  if (request.event.empty()) return name;
  constexpr std::string_view kReturn = "__return";
  bool needs_suffix = request.at_return && !request.event.ends_with(kReturn);
  name.name = request.event.substr(0, kLongestEvent - (needs_suffix ? kReturn.size() : 0));
  if (needs_suffix) name.name += kReturn;
  return name;
}

ProbeNames::ProbeNames(const std::vector<TracepointName>& existing, bool force) : force_(force) {
  for (const TracepointName& event : existing) taken_.insert(key_of(event));
}

bool ProbeNames::is_taken(const TracepointName& event) const {
  return taken_.contains(key_of(event));
}

Result<TracepointName> ProbeNames::unique(TracepointName event, bool may_number) {
  if (is_taken(event) && !may_number)
    return fail(ErrorCode::kFailed,
                "the event {} already exists: remove it with 'probe -d {}', or give -f to make "
                "another with a number after its name",
                key_of(event), key_of(event));
  std::string base = event.name;
  for (size_t i = 1; is_taken(event); ++i) {
    std::string number = fmt::format("_{}", i);
    event.name = base.substr(0, kLongestEvent - number.size()) + number;
  }
  taken_.insert(key_of(event));
  return event;
}

Result<std::vector<NamedProbe>> ProbeNames::name(const RequestedProbe& request,
                                                 const std::vector<ProbePlan>& plans) {
  std::vector<NamedProbe> named;
  for (const ProbePlan& plan : plans) {
    TracepointName wanted = wanted_name(request, plan);
    bool is_own = false;  // this request has made an event of this name
    const NamedProbe* same = nullptr;
    for (const NamedProbe& other : named) {
      bool related =
          other.event.system == wanted.system && is_of_base(other.event.name, wanted.name);
      is_own |= related;
      if (same == nullptr && related && other.place.at_return == plan.place.at_return &&
          event_fields(other.place) == event_fields(plan.place))
        same = &other;
    }
    TracepointName event = same != nullptr ? same->event : TRY(unique(wanted, force_ || is_own));
    named.push_back({std::move(event), plan.place});
  }
  return named;
}

}  // namespace sonde
