// Metrics for the module: what can be computed, the events that it takes, and its value from their
// counters. Those of `stat -M`: Sonde's own, and the processor vendor's where files with them are
// configured. Nothing of Python is in here.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/counts/metrics.h"
#include "base/error.h"
#include "event/vendor/vendor_events.h"
#include "kernel_event.h"

namespace sonde::bindings {

/// What is known about a metric; texts may be empty.
struct MetricDescription {
  std::string name, formula, unit, brief;
  std::vector<std::string> groups;
};
/// All that this machine has names for, sorted by name. Errors: the vendor's files.
Result<std::vector<MetricDescription>> describe_metrics();

/// Some metrics, computed from the counters of events of one list.
class MetricsOfEvents {
 public:
  /// "NAME[,NAME…]", names of metrics or groups, and the events that they take, each once, to be
  /// counted. With a `pmu`, of events that several PMUs have, only those of this one. Errors as
  /// for `stat -M`.
  static Result<std::pair<MetricsOfEvents, std::vector<ParsedEvent>>> parse(std::string_view list,
                                                                            std::string_view pmu);

  /// In the order in which they were named.
  [[nodiscard]] const std::vector<std::string>& names() const { return choice_.names; }

  /// The value of a metric over what was counted on that CPU, for that thread, since it was last
  /// asked for there: NaN if a count that it needs is missing, or it divides by zero. ENOENT: an
  /// event is not open there; otherwise the kernel's errno.
  SysResult<double> compute(const std::string& name, std::span<KernelEvent* const> events, int cpu,
                            pid_t thread);

 private:
  struct Place {
    std::string metric;
    size_t event;
    int cpu;
    pid_t thread;
    auto operator<=>(const Place&) const = default;
  };
  MetricSelection choice_;
  std::map<Place, CounterValue> last_;
};

}  // namespace sonde::bindings
