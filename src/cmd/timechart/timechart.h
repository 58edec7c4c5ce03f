// The subcommand of `timechart`, and what it shares with the drawing.
#pragma once

#include <memory>

#include "cli/command.h"

namespace sonde {

/// -P and -T, accepted before or after `record`.
struct ChartParts {
  bool power_only = false;
  bool tasks_only = false;
};

std::unique_ptr<Command> make_timechart_record(ChartParts parts);

}  // namespace sonde
