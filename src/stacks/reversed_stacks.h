// The same stacks starting from their innermost frames: who calls a function, not what it calls.
//
//   main;parse;next 3         next;parse;main 3
//   main;emit;next  2    →    next;emit;main  2
#pragma once

#include "base/error.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// Every stack upside down: its innermost frame becomes the root. Columns and samples are kept.
/// Reversed stacks may lose their common prefixes, so a chain of a thousand nodes each of which
/// ends a stack would become half a million nodes: fails (kUnsupported) if memory cannot hold the
/// result.
Result<StackProfile> reversed_stacks(StackProfile profile);

}  // namespace sonde
