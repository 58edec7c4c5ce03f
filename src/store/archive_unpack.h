// Archives unpacked into the build-id cache: those of `perf archive` (bzip2), bundles, and plain
// tar.
#pragma once

#include <string>

#include "base/error.h"

namespace sonde {

struct UnpackSummary {
  size_t objects = 0;  // that are in the cache now
  size_t refused = 0;  // members whose names lead out of the cache
};

/// What is there already stays. Errors: kNotFound, kCorrupt, kIo.
Result<UnpackSummary> unpack_archive(const std::string& archive, const std::string& directory);

}  // namespace sonde
