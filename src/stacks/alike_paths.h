// Call paths that differ in addresses but not in what is shown: most paths of a recording. Of those
// that are alike, one is kept, so that what follows has a twentieth of the work.
#pragma once

#include <cstdint>
#include <span>

#include "base/large_vector.h"
#include "profile/path_order.h"

namespace sonde {

/// Leaves one use of each kind, with the sum of their periods, and tells for each use that was
/// there which of those stands for it now. Alike are uses of the same group whose steps have the
/// same keys.
[[nodiscard]] LargeVector<uint32_t> join_alike_paths(LargeVector<PathUse>& uses,
                                                     std::span<const uint32_t> key_of_step);

}  // namespace sonde
