// Terms of `pmu/…/` events: config fields from the PMU's format files, its ready-made events, and
// everything that other events take too.
#pragma once

#include "event/event_list.h"
#include "event/event_parser.h"
#include "event/event_syntax.h"
#include "event/pmu.h"

namespace sonde {

/// Fills attr, name, unit, scale … of `event`, whose PMU is `pmu`.
Result<> apply_pmu_terms(const EventSyntax& syntax, const Pmu& pmu, const EventSources& sources,
                         const EventErrors& errors, ParsedEvent& event);

}  // namespace sonde
