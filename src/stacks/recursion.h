// Merges direct recursion into one frame: the weight of a function that called itself, however
// deep, goes to the first call.
//
//   main;visit;visit;visit;read 3    →    main;visit;read 3
#pragma once

#include "stacks/stack_profile.h"

namespace sonde {

/// Samples and threads are kept.
[[nodiscard]] StackProfile merge_recursion(StackProfile profile);

}  // namespace sonde
