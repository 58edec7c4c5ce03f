// The processor vendor's metrics: their formulas in terms of events that can be counted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/counts/metrics.h"
#include "base/error.h"
#include "base/sink.h"
#include "event/vendor/vendor_events.h"

namespace sonde {

/// The metrics of that name, or of the group of that name, whatever its case. Empty if there is
/// neither. Errors: kBadEvent if a formula cannot be evaluated here, naming the metric and what it
/// needs; otherwise those of VendorEvents::tables.
Result<std::vector<CountFormula>> find_vendor_metrics(std::string_view name, VendorEvents& vendor);

/// The events of a formula as -e accepts them, each once. The kernel counts the events of the
/// top-down registers only in a group led by `slots`, so that comes first.
[[nodiscard]] std::vector<std::string> events_of(const CountFormula& formula);

/// What `list` shows of them: "Vendor Metrics:" and those whose names match the glob. Nothing if
/// none matches, or if there are no files.
Result<> list_vendor_metrics(Sink& out, VendorEvents& vendor, std::string_view pattern,
                             bool describe, bool details);

/// "Vendor Metric Groups:", names only, sorted. Nothing if there are none.
Result<> list_vendor_metric_groups(Sink& out, VendorEvents& vendor);
/// Objects for -j, as list_metrics_as_json writes them; returns whether none was written yet.
Result<bool> list_vendor_metrics_as_json(Sink& out, VendorEvents& vendor, std::string_view pattern,
                                         bool first);

}  // namespace sonde
