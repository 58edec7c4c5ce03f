// Identifies frames that are not work: kernel functions in which an idle CPU waits.
#pragma once

#include <vector>

#include "replay/session.h"

namespace sonde {

/// 1 for each of Session::frames() that is in such a function, by its name (arch/*/kernel,
/// drivers/idle, drivers/acpi and drivers/cpuidle of kernels 2.6 to 6.18).
[[nodiscard]] std::vector<uint8_t> frames_of_idle_functions(const Session& session);

}  // namespace sonde
