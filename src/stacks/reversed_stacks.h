// The same stacks as seen from their innermost frames: who leads to a function, not where it leads.
//
//   main;parse;next 3         next;parse;main 3
//   main;emit;next  2    →    next;emit;main  2
#pragma once

#include "base/error.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// Every stack upside down: its innermost frame becomes the root. Columns and samples are kept.
/// What stacks had in common they may have no more, so a chain of a thousand nodes that all end
/// stacks would become half a million: an error (kUnsupported) for those that memory has no room
/// for.
Result<StackProfile> reversed_stacks(StackProfile profile);

}  // namespace sonde
