// The build-id cache filled by a recording: what its samples hit is kept there, so that it can be
// reported when the object has changed or gone. An object that only a container's own mount
// namespace shows is fetched from there.
#pragma once

#include <string>
#include <vector>

#include "capture/record_scan.h"
#include "perfdata/features.h"

namespace sonde {

/// Adds what is not in the cache in `directory` yet; without a directory, nothing. Failures (a
/// read-only home, a full disk) leave the object out: the recording itself does not need the cache.
void keep_hit_objects(const std::string& directory, const std::vector<HitObject>& hits,
                      const std::vector<BuildIdEntry>& build_ids);

}  // namespace sonde
