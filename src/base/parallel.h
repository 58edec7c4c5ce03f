// Parallel work where it is free of order: oneTBB behind one function, so that thread counts are
// set in one place.
#pragma once

#include <oneapi/tbb/parallel_for.h>

#include <cstddef>

namespace sonde {

/// Calls `body(i)` for every i in [0, count), on all cores. The order is open; results go to slots
/// by index, so that the outcome does not depend on the number of threads (law 5).
template <typename Body>
void parallel_for(size_t count, const Body& body) {
  if (count == 1) return body(size_t{0});
  oneapi::tbb::parallel_for(size_t{0}, count, body);
}

}  // namespace sonde
