// How many threads were running on a CPU when a sample was taken: its *parallelism*, told from the
// context switches of the recording (record --latency, --switch-events).
//
// A thread runs from its switch in, or from its first sample, to its switch out, or its exit. The
// idle task does not count. The level of a sample is at least 1, and at most the number of CPUs
// that the header names: lost switches could otherwise let it grow.
#pragma once

#include <vector>

#include "replay/session.h"

namespace sonde {

/// Whether any event of the recording was opened to record context switches.
[[nodiscard]] bool records_switches(const EventTable& events);

/// By index in the session's columns. Takes time in proportion to the samples and other records.
[[nodiscard]] std::vector<uint32_t> parallelism_of_samples(const Session& session);

}  // namespace sonde
