// The names of new probes, unique in tracefs: what the user says, else what the plan proposes, with
// a number appended where that is needed.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "event/print_fmt/tracefs.h"
#include "probe/probe_plan.h"
#include "probe/requested_probe.h"

namespace sonde {

/// A probe with its final name.
struct NamedProbe {
  TracepointName event;
  ProbePlace place;
};

/// The name that a plan of a request should have: the user's, to which "__return" is appended as in
/// perf if it is a return's, else the plan's.
[[nodiscard]] TracepointName wanted_name(const RequestedProbe& request, const ProbePlan& plan);

class ProbeNames {
 public:
  /// `existing`: what tracefs has. `force`: names that exist get a number instead of an error.
  ProbeNames(const std::vector<TracepointName>& existing, bool force);

  /// The places of one request. They share an event if their fields are the same; others get _1,
  /// _2 … Errors: kFailed if the name exists and `force` was not given.
  Result<std::vector<NamedProbe>> name(const RequestedProbe& request,
                                       const std::vector<ProbePlan>& plans);

 private:
  [[nodiscard]] bool is_taken(const TracepointName& event) const;
  Result<TracepointName> unique(TracepointName event, bool may_number);

  std::set<std::string, std::less<>> taken_;  // "group:event"
  bool force_;
};

}  // namespace sonde
