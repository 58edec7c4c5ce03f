// The metrics part of `list`: what `stat -M` accepts.
#pragma once

#include <string_view>

#include "base/sink.h"

namespace sonde {

/// "Metrics:", those whose names match the glob, each with its description and, with `details`, the
/// events that it needs. Nothing at all if none matches.
void list_metrics(Sink& out, std::string_view pattern, bool describe, bool details);
/// "Metric Groups:", names only.
void list_metric_groups(Sink& out);
/// "Metric Groups:" with the metrics of each.
void list_grouped_metrics(Sink& out, bool describe, bool details);
/// Objects for -j, with the field names of newer perfs; `first`: no object has been written yet.
/// Returns whether that is still so.
bool list_metrics_as_json(Sink& out, std::string_view pattern, bool first);

}  // namespace sonde
