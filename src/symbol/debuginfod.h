// Fetches files of objects from debuginfod servers, by build id. libdebuginfod does the work: it
// queries the servers of DEBUGINFOD_URLS and keeps what it got in its own cache. It is loaded on
// demand.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace sonde {

[[nodiscard]] bool debuginfod_is_installed();

/// Call before the first fetch, while there is one thread: the library takes the list of servers
/// only from the process environment. An empty `urls`, or perf's word "system", leaves the
/// environment unchanged.
/// kUnsupported if the library is not installed, kUsage if there are no servers at all.
Result<> start_debuginfod(const std::string& urls);

enum class DebuginfodFile : uint8_t { kDebugInfo, kExecutable };
/// The local path of the file; empty if no server has it. Thread-safe.
std::string fetch_from_debuginfod(std::string_view build_id, DebuginfodFile what);

}  // namespace sonde
