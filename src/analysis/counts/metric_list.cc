#include "analysis/counts/metric_list.h"

#include <algorithm>

#include "analysis/counts/metric_groups.h"
#include "base/text.h"

namespace sonde {
namespace {

void list_metric(Sink& out, const MetricInfo& metric, bool describe, bool details) {
  out.print("  {}\n", metric.name);
  if (describe) out.print("       [{}: {}]\n", metric.unit, metric.expression);
  if (details && !metric.events.empty()) out.print("        {}\n", join(metric.events, ","));
}

std::string groups_of(const MetricInfo& metric) {
  std::vector<std::string> names;
  for (const MetricGroup& group : metric_groups())
    if (std::ranges::find(group.members, &metric) != group.members.end())
      names.emplace_back(group.name);
  return join(names, ";");
}

}  // namespace

void list_metrics(Sink& out, std::string_view pattern, bool describe, bool details) {
  bool any = false;
  for (const MetricInfo& metric : all_metrics()) {
    if (!glob_match(pattern, metric.name)) continue;
    if (!any) out.write("\nMetrics:\n\n");
    any = true;
    list_metric(out, metric, describe, details);
  }
}

void list_metric_groups(Sink& out) {
  out.write("\nMetric Groups:\n\n");
  for (const MetricGroup& group : metric_groups()) out.print("{}\n", group.name);
}

void list_grouped_metrics(Sink& out, bool describe, bool details) {
  out.write("\nMetric Groups:\n\n");
  for (const MetricGroup& group : metric_groups()) {
    out.print("{}:\n", group.name);
    for (const MetricInfo* metric : group.members) list_metric(out, *metric, describe, details);
  }
}

bool list_metrics_as_json(Sink& out, std::string_view pattern, bool first) {
  // Names and expressions are our own: nothing in them needs escaping.
  for (const MetricInfo& metric : all_metrics()) {
    if (!glob_match(pattern, metric.name)) continue;
    if (!first) out.write(",\n");
    out.print(
        "{{\n\t\"MetricGroup\": \"{}\",\n\t\"MetricName\": \"{}\",\n\t\"MetricExpr\": \"{}\",\n"
        "\t\"BriefDescription\": \"{}\"\n}}",
        groups_of(metric), metric.name, metric.expression, metric.unit);
    first = false;
  }
  return first;
}

}  // namespace sonde
