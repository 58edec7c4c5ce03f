// What kind of branch an interrupt or exception is.
#pragma once

#include <cstdint>

#include "perfdata/records/trace_flags.h"

namespace sonde::itrace {

/// Without a target, all that is known is that tracing ends.
inline uint32_t flags_of_interrupt(bool has_target, bool ends_tracing) {
  if (!has_target) return kTraceBranch | kTraceEnd;
  return kTraceBranch | kTraceCall | kTraceAsync | kTraceInterrupt | (ends_tracing ? kTraceEnd : 0);
}

}  // namespace sonde::itrace
