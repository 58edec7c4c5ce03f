// -m of commands that read rings and don't mention to which size it was rounded up.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/error.h"

namespace sonde {

/// Reader of -m's value (parse_ring_pages), for FlagTable::call. `pages` must outlive the table.
std::function<Result<>(std::string_view)> ring_pages_into(uint64_t& pages);

}  // namespace sonde
