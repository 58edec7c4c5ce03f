// The part of `list` that is about metrics: what `stat -M` takes.
#pragma once

#include <string_view>

#include "base/sink.h"

namespace sonde {

/// "Metrics:", those whose names match the glob, each with its description and, with `details`, the
/// events that it needs. Nothing at all where none matches.
void list_metrics(Sink& out, std::string_view pattern, bool describe, bool details);
/// "Metric Groups:", their names alone.
void list_metric_groups(Sink& out);
/// "Metric Groups:" with the metrics of each.
void list_grouped_metrics(Sink& out, bool describe, bool details);
/// Objects for -j, with the names of the fields that newer perfs give them; `first`: none stands
/// before. Returns whether still none does.
bool list_metrics_as_json(Sink& out, std::string_view pattern, bool first);

}  // namespace sonde
