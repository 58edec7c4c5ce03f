// `report --html`: the explorer's page instead of tables.
#pragma once

#include "base/env.h"
#include "base/error.h"
#include "report/options.h"

namespace sonde::report {

/// Rejects options that shape tables, or filter by what only tables know: in the page, users sort
/// and filter for themselves.
Result<int> write_page(const ReportOptions& o, Env& env);

}  // namespace sonde::report
