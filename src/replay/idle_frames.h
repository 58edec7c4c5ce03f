// Which places are no work: the kernel's functions in which a CPU waits for some.
#pragma once

#include <vector>

#include "replay/session.h"

namespace sonde {

/// 1 for each of Session::frames() that lies in such a function, by its name (arch/*/kernel,
/// drivers/idle, drivers/acpi and drivers/cpuidle of kernels 2.6 to 6.18).
[[nodiscard]] std::vector<uint8_t> frames_of_idle_functions(const Session& session);

}  // namespace sonde
