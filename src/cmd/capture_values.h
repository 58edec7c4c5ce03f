// Readers of option values that several commands which record or trace have, for FlagTable::call.
// What they write to must outlive the table.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/error.h"
#include "capture/record_options.h"

namespace sonde {

/// -m, as parse_ring_pages() takes it, where nobody is told to which size it was rounded up.
std::function<Result<>(std::string_view)> ring_pages_into(uint64_t& pages);
/// -F: samples a second, or "max".
std::function<Result<>(std::string_view)> frequency_into(SamplingOptions& sampling);

}  // namespace sonde
