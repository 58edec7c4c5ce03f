// The flags of `report`.
#pragma once

#include "cli/flags.h"
#include "report/options.h"

namespace sonde::report {

/// Every option; `o` must outlive the table.
void declare_flags(FlagTable& flags, ReportOptions& o);

}  // namespace sonde::report
