// `stat report`: shows the counts of a `stat record` file.
#pragma once

#include <memory>

#include "cli/command.h"
#include "cmd/stat/flags.h"

namespace sonde {

/// `before`: the options given before the word `report` (-x, -j, --metric-only …).
std::unique_ptr<Command> make_stat_report(const StatOptions& before);

}  // namespace sonde
