// How fast the machine is right now: the time that a small piece of work takes which is always the
// same. Two measurements of a program at different times can only be compared as far as this has
// stayed what it was (clock speed, neighbours on the same hardware, load).
#pragma once

#include <cstdint>

#include "base/error.h"

namespace sonde {

/// Runs the work in a process of its own and waits for it: a process to start and to end, memory to
/// get from the kernel, arithmetic; some two milliseconds altogether.
Result<uint64_t> measure_machine_pace_ns();

}  // namespace sonde
