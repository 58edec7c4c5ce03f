// From what `histogram` is asked for to the programs that add it up: which events, and what is read
// from each.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bpf/histograms/kernel_histograms.h"
#include "event/print_fmt/tracefs.h"
#include "histogram/event_fields.h"
#include "histogram/histogram_set.h"
#include "histogram/live_events.h"
#include "histogram/options.h"

namespace sonde {

struct ProgramPlan {
  std::vector<HistogramSource> sources;
  KeyStyle key_style = KeyStyle::kUnsigned;
  HistogramSet empty;  // names and scale
};

/// Errors: no such event or field; fields of several events that are not alike.
[[nodiscard]] Result<ProgramPlan> plan_programs(const HistogramOptions& options,
                                                const EventSearch& search, Tracefs& tracefs);

/// Names and scale for what is asked, live or of a recording. kUsage: bad --linear.
[[nodiscard]] Result<HistogramSet> named_set(const HistogramOptions& options);

/// The two names in a key of a pair: "pid=next_pid"; the same twice if there is only one.
struct PairedNames {
  std::string_view begin, end;
};
[[nodiscard]] PairedNames paired_names(std::string_view key);

}  // namespace sonde
