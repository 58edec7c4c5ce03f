// Whether the processor's debug registers stop anything here: some virtual machines take what is
// written to them, and never trap.
#pragma once

#include <optional>

#include "base/sys.h"

namespace sonde {

/// Runs into a breakpoint of its own thread; none if the kernel refuses to set one. Some ten
/// microseconds.
[[nodiscard]] std::optional<bool> hardware_breakpoints_fire(Sys& sys);

}  // namespace sonde
