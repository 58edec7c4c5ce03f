// Fills the build-id cache from a recording: the objects its samples hit are kept there, so that
// they can still be reported on when they have changed or are gone. An object visible only in a
// container's mount namespace is fetched from there.
#pragma once

#include <vector>

#include "capture/recorders/record_options.h"
#include "capture/recorders/record_scan.h"
#include "perfdata/header/features.h"

namespace sonde {

/// Adds the objects that are not yet in the cache directory; without a directory, none. If wanted,
/// debuginfod servers are asked for the debug files of those that have no debug information here,
/// and for objects whose file is gone. On failure (a read-only home, a full disk, a server that
/// does not answer) the object is left out: the recording itself does not need the cache.
void keep_hit_objects(const BuildIdOptions& wanted, const std::vector<HitObject>& hits,
                      const std::vector<BuildIdEntry>& build_ids);

}  // namespace sonde
