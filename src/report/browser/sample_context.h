// report --samples: single samples of a row, and what their threads did around them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/tables.h"

namespace sonde::report {

/// Up to `most` samples of a row (an index into EventReport::Data::rows), spread evenly over time,
/// earliest first. Those of functions that it called count, too, if the table has children. Needs
/// ReportOptions::browser_samples.
[[nodiscard]] std::vector<uint32_t> samples_of_row(const EventReport& report, uint32_t row,
                                                   size_t most);

/// "12.345678  client 20  [001]"
[[nodiscard]] std::string sample_text(const EventReport& report, uint32_t sample);

/// A line for each sample that the sample's thread had within ten milliseconds, of any event; the
/// sample's own is marked.
[[nodiscard]] std::vector<std::string> sample_context(const EventReport& report,
                                                      const Session& session, uint32_t sample);

}  // namespace sonde::report
