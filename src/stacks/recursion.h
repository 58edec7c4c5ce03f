// Direct recursion as one frame: what fell on a function that called itself, however deep, falls on
// the first.
//
//   main;visit;visit;visit;read 3    →    main;visit;read 3
#pragma once

#include "stacks/stack_profile.h"

namespace sonde {

/// Samples and threads stay, too.
[[nodiscard]] StackProfile merge_recursion(StackProfile profile);

}  // namespace sonde
