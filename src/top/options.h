// What `top` is asked for.
#pragma once

#include <optional>
#include <string>

#include "capture/opening/event_selection.h"
#include "report/options.h"

namespace sonde::top {

constexpr double kMinDelay_s = 0.1;

struct TopOptions {
  TopOptions();
  RecordOptions record;
  EventSelection selection{/*counting=*/false};
  report::ReportOptions report;
  double delay_s = 2;
  uint64_t entries = 0;        // -E; 0: as many as fit on the screen
  uint64_t least_samples = 0;  // -f
  bool zero = false;           // each screen shows only the samples since the previous one
  std::string annotated;       // --sym-annotate: a function's name
  std::string by_event;        // --by: the event whose values the rows are
  bool dump_symbols = false;   // -D
  bool hide_kernel = false, hide_user = false;
  bool show_idle = false;
  unsigned synthesis_threads = 0;

  /// Call trees and hierarchies show only one refresh interval: older samples don't fade in them.
  [[nodiscard]] bool starts_anew() const {
    return zero || report.hierarchy || record.sampling.call_graph != CallGraphMode::kNone;
  }
};

}  // namespace sonde::top
