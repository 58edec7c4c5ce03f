// A recording in the Common Trace Format 1.8 (https://diamon.org/ctf/), as babeltrace and Trace
// Compass read it: what `data convert --to-ctf` writes. Names, types and order of fields are
// perf's.
//
//   DIR/metadata         the events and their fields, as text
//   DIR/perf_stream_N    the samples of CPU N in time order, in packets
//
// If the recording has no CPUs, all samples are in stream 0.
#pragma once

#include <string>

#include "base/error.h"
#include "replay/session.h"

namespace sonde {

struct CtfOptions {
  bool wall_clock = false;   // times are wall-clock times, not those of the recording's clock
  bool all_records = false;  // also tasks and mappings, as events perf_comm, perf_mmap …
};

/// Creates the directory if needed. Fails if wall-clock times are wanted and the recording does not
/// relate its clock to them. Returns the number of bytes written.
Result<uint64_t> write_data_ctf(const std::string& directory, const Session& session,
                                CtfOptions options);

}  // namespace sonde
