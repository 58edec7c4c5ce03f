// Unpacks archives into the build-id cache: those of `perf archive` (bzip2), bundles, and plain
// tar.
#pragma once

#include <string>

#include "base/error.h"

namespace sonde {

struct UnpackSummary {
  size_t objects = 0;  // now in the cache
  size_t refused = 0;  // members whose names point outside of the cache
};

/// Existing objects stay. Errors: kNotFound, kCorrupt, kIo.
Result<UnpackSummary> unpack_archive(const std::string& archive, const std::string& directory);

}  // namespace sonde
