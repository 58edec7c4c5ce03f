// Events by the names that processor vendors give them, as known to libpfm4: `--pfm-events`.
//
//   perf::PERF_COUNT_SW_CPU_CLOCK:u,{skx::INST_RETIRED:ANY,skx::BR_INST_RETIRED:ALL_BRANCHES:k}
//
// The library's tables take a few megabytes, so it is loaded on first use, and stays loaded. Its
// events are in its own documentation (libpfm(3), `list pfm`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "event/parser/event_list.h"

namespace sonde {

/// An event or, if it has unit masks, one of them.
struct PfmEvent {
  std::string name;              // "skx::INST_RETIRED:ANY"
  std::string_view pmu;          // "skx"
  std::string_view description;  // the library's text, which stays valid
};

/// The events of the PMUs that this machine has, in the library's order. Error: kUnsupported if
/// libpfm4 is not installed.
Result<std::vector<PfmEvent>> pfm_catalog();

/// Parses the argument of one --pfm-events: names separated by commas, groups in braces. Errors:
/// kBadEvent for names that the library does not know, with its reason, the nearest names and the
/// command of `tool` that lists them; kUnsupported as above.
Result<std::vector<ParsedEvent>> parse_pfm_events(std::string_view text,
                                                  std::string_view tool = "sonde");

}  // namespace sonde
