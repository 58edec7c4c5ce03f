// Parsers of option values shared by several commands that record or trace, for FlagTable::call.
// Their targets must outlive the table.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/error.h"
#include "capture/recorders/record_options.h"

namespace sonde {

/// -m, as parse_ring_pages() accepts it; rounding up is not reported.
std::function<Result<>(std::string_view)> ring_pages_into(uint64_t& pages);
/// -F: samples per second, or "max".
std::function<Result<>(std::string_view)> frequency_into(SamplingOptions& sampling);

}  // namespace sonde
