// Terms of `pmu/…/` events: config fields from the PMU's format files, its predefined events, and
// all terms that other events also accept.
#pragma once

#include "event/parser/event_list.h"
#include "event/parser/event_parser.h"
#include "event/parser/event_syntax.h"
#include "event/pmu/pmu.h"
#include "event/vendor/vendor_tables.h"

namespace sonde {

/// Fills attr, name, unit, scale … of `event`, whose PMU is `pmu`.
Result<> apply_pmu_terms(const EventSyntax& syntax, const Pmu& pmu, const EventSources& sources,
                         const EventErrors& errors, ParsedEvent& event);

/// The same for a vendor's event that was named without its PMU.
Result<> apply_vendor_event(const EventSyntax& syntax, const VendorEvent& vendor, const Pmu& pmu,
                            const EventSources& sources, const EventErrors& errors,
                            ParsedEvent& event);

}  // namespace sonde
