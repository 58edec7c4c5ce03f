#include "analysis/counts/metric_groups.h"

#include <algorithm>

#include "base/nearest_names.h"
#include "base/text.h"
#include "event/parser/event_error.h"

namespace sonde {
namespace {

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

MetricGroup group_of(std::string_view name, std::string_view members) {
  MetricGroup group{.name = name, .members = {}};
  for (std::string_view member : split(members, ' '))
    if (const MetricInfo* metric = find_metric(member)) group.members.push_back(metric);
  return group;
}

std::unexpected<Error> not_found(std::string_view name) {
  std::vector<std::string> metrics, groups;
  for (const MetricInfo& metric : all_metrics()) metrics.emplace_back(metric.name);
  for (const MetricGroup& group : metric_groups()) groups.emplace_back(group.name);
  std::vector<std::string> all = metrics;
  all.insert(all.end(), groups.begin(), groups.end());
  std::string nearest = did_you_mean(nearest_names(name, all));
  return fail(ErrorCode::kBadEvent,
              "Cannot find metric or group `{}'\n{}{}There are: {}\nand the groups: {}", name,
              nearest, nearest.empty() ? "" : "\n", join(metrics, " "), join(groups, " "));
}

}  // namespace

const std::vector<MetricGroup>& metric_groups() {
  static const std::vector<MetricGroup> groups = {
#define METRIC_GROUP(name, members) group_of(#name, members),
#include "analysis/counts/metric_groups.def"
  };
  return groups;
}

Result<std::vector<const MetricInfo*>> find_metrics(std::string_view list) {
  std::vector<const MetricInfo*> found;
  auto add = [&](const MetricInfo* metric) {
    if (std::ranges::find(found, metric) == found.end()) found.push_back(metric);
  };
  for (std::string_view name : split(list, ',')) {
    if (const MetricInfo* metric = find_metric(name)) {
      add(metric);
      continue;
    }
    auto group = std::ranges::find(metric_groups(), lower_case(name),
                                   [](const MetricGroup& one) { return lower_case(one.name); });
    if (group == metric_groups().end()) return not_found(name);
    for (const MetricInfo* metric : group->members) add(metric);
  }
  return found;
}

}  // namespace sonde
