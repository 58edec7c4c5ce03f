// How fast the machine is right now: the time that a small, fixed piece of work takes. Measurements
// of a program at different times can only be compared to the extent that this has not changed
// (clock speed, neighbours on the same hardware, load).
#pragma once

#include <cstdint>

#include "base/error.h"

namespace sonde {

/// Runs the work in a child process and waits for it: starting and ending a process, getting memory
/// from the kernel, arithmetic; about two milliseconds altogether.
Result<uint64_t> measure_machine_pace_ns();

}  // namespace sonde
