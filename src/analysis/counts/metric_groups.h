// Groups of metrics: what -M accepts besides single ones.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/counts/metrics.h"
#include "base/error.h"

namespace sonde {

struct MetricGroup {
  std::string_view name;
  std::vector<const MetricInfo*> members;
};

const std::vector<MetricGroup>& metric_groups();

/// The metrics that "NAME[,NAME…]" means, with groups expanded and duplicates removed. Error:
/// kBadEvent, listing the names that exist.
Result<std::vector<const MetricInfo*>> find_metrics(std::string_view list);

}  // namespace sonde
