// Call paths that differ in addresses but not in what is shown: most paths of a recording. One of
// each set of equivalent paths is kept, which cuts the work that follows to a twentieth.
#pragma once

#include <cstdint>
#include <span>

#include "base/large_vector.h"
#include "profile/path_order.h"

namespace sonde {

/// Keeps one use of each kind, with the sum of their periods, and returns for each original use the
/// index of the use that now represents it. Uses are alike if they are in the same group and their
/// steps have the same keys.
[[nodiscard]] LargeVector<uint32_t> join_alike_paths(LargeVector<PathUse>& uses,
                                                     std::span<const uint32_t> key_of_step);

}  // namespace sonde
