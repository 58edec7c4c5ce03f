// The build-id cache, ~/.debug: a copy or link of every object that recordings hit, so that they
// can be reported when the object has changed or gone. Laid out as perf's, which both tools share:
//
//   ~/.debug/usr/bin/true/<build id>/elf               the object (also debug, vdso, kallsyms)
//   ~/.debug/.build-id/ab/cdef…  →  ../../usr/bin/true/<build id>
#pragma once

#include <string>
#include <vector>

#include "capture/record_scan.h"
#include "perfdata/features.h"

namespace sonde {

/// Adds what is not there yet. Failures (a read-only home, a full disk) leave the object out: the
/// recording itself does not need the cache.
void update_build_id_cache(const std::string& directory, const std::vector<HitObject>& hits,
                           const std::vector<BuildIdEntry>& build_ids);

}  // namespace sonde
