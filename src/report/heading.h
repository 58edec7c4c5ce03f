// The heading of a report's table.
#pragma once

#include <string>

#include "base/sink.h"
#include "report/tables.h"

namespace sonde::report {

/// "Samples: 500K of event 'cycles'", with any filters.
[[nodiscard]] std::string samples_line(const EventReport& table, const ReportOptions& options);
/// "Event count (approx.): 123"; for memory accesses, their weight.
[[nodiscard]] std::string count_line(const EventReport& table, const ReportOptions& options);
/// What the samples leave out, if anything, as a block of its own.
void write_gaps(Sink& out, const Session& session);
/// As --stdio prints it.
void write_heading(Sink& out, const EventReport& table, const ReportOptions& options,
                   const Plan& plan);

}  // namespace sonde::report
