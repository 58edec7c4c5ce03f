// The text that perf2bolt and llvm-bolt call pre-aggregated (-pa), from which BOLT lays out a
// program anew. A line for each kind of event, of hexadecimal addresses of the object:
//
//   B FROM TO COUNT MISPREDICTED   branches taken; TO is X:0 outside of the object
//   F START END COUNT              code run from one branch to the next, both instructions included
//
// For programs that are loaded anywhere, these are addresses as if loaded at 0, as in its symbols.
#pragma once

#include "base/sink.h"
#include "elf/segment_map.h"
#include "profile/branch_profile.h"

namespace sonde {

/// `segments`: of the object's file. What lies outside of them is left out; returns how many lines
/// that were.
[[nodiscard]] uint64_t write_bolt(Sink& out, const BranchProfile::Object& object,
                                  const SegmentMap& segments);

}  // namespace sonde
