// A recording in the Common Trace Format 1.8 (https://diamon.org/ctf/), as babeltrace and Trace
// Compass read it: what `data convert --to-ctf` writes. Names, types and order of fields are
// perf's.
//
//   DIR/metadata         the events and their fields, as text
//   DIR/perf_stream_N    the samples of CPU N in the order of time, in packets
//
// Of a recording without CPUs all samples are in stream 0.
#pragma once

#include <string>

#include "base/error.h"
#include "replay/session.h"

namespace sonde {

struct CtfOptions {
  bool wall_clock = false;   // times are those of the day, not of the recording's clock
  bool all_records = false;  // tasks and mappings, too, as events perf_comm, perf_mmap …
};

/// Makes the directory where it isn't there. Wall clock times are an error where the recording does
/// not say how its clock stands to them. Gives the bytes that were written.
Result<uint64_t> write_data_ctf(const std::string& directory, const Session& session,
                                CtfOptions options);

}  // namespace sonde
