// What the samples of a recording leave out, in sentences with numbers: for the heading of a
// report. A complete recording has no gaps.
//
//   Throttled: 'cycles' 12 times for 34.0 ms of 2.00 s on CPU 1: 1.7% of that time has no samples
//   Lost: up to 123 of 10123 samples: each share may be off by up to 1.2 points
//   Multiplexed: 'cycles' had a counter for 800.0 ms of 2.00 s: 60.0% of that time has no samples
//   Call chains: 63.0% end in code without frame pointers: record with --call-graph dwarf or bpf
#pragma once

#include <string>
#include <vector>

#include "replay/session.h"

namespace sonde {

/// When events were not counted although they were recorded: the kernel throttled them, or they
/// shared counters with others. Multiplexing is known from counter values, in samples (`record`
/// with :S) or in READ records (`record -s`).
[[nodiscard]] std::vector<std::string> uncounted_times(const Session& session);
/// These, callers that are missing in call chains, and what was lost on the way to the file.
[[nodiscard]] std::vector<std::string> sampling_gaps(const Session& session);

}  // namespace sonde
