// Goes through an Intel PT trace by its packets alone, without the program's code: far faster, but
// it sees only the places that packets have addresses of (perf-intel-pt(1), "The q option"):
// targets of indirect branches, where tracing begins, interrupts, PSBs.
#pragma once

#include "base/bytes.h"
#include "pt/flow_decoder.h"

namespace sonde::pt {

enum class QuickDetail : uint8_t { kAddresses, kPsbs };

/// Tells the observer of each place as of an instruction of no kind. Times are those of TSC and MTC
/// packets. After what is no packet it goes on at the next PSB.
void follow_quickly(Bytes trace, const TraceSetup& setup, QuickDetail detail,
                    FlowObserver& observer);

}  // namespace sonde::pt
