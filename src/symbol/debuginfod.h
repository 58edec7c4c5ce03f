// Files of objects from debuginfod servers, by build id. libdebuginfod does the work: it asks the
// servers of DEBUGINFOD_URLS, and keeps what it got in a cache of its own. It is loaded when it is
// asked for.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace sonde {

/// Before the first fetch, while there is one thread: the library takes the list of servers from
/// the environment of the process and from nowhere else. An empty `urls` leaves what is there.
/// kUnsupported where the library is not installed, kUsage where there are no servers at all.
Result<> start_debuginfod(const std::string& urls);

enum class DebuginfodFile : uint8_t { kDebugInfo, kExecutable };
/// The path of the file, here; empty where no server has it. From any thread.
std::string fetch_from_debuginfod(std::string_view build_id, DebuginfodFile what);

}  // namespace sonde
