// Files that `inject --guest-data` takes along: copies of kernels beside recordings (record
// --kcore), and guests' objects for the build-id cache.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "perfdata/header/features.h"
#include "perfdata/read/recording.h"

namespace sonde {

/// Whether the recording is a directory with kcore_dir.
bool has_kernel_copy(const Recording& recording);

/// Copies the files of its kcore_dir to `directory`, which is made. Nothing if it has none.
Result<> take_kernel_copy(const Recording& recording, const std::string& directory);

/// Adds those of a guest's objects to the build-id cache that lie below `root`, the guest's own,
/// and have the recorded build ids. The others are left out: what reports find later is less, not
/// wrong.
void cache_guest_objects(const std::vector<BuildIdEntry>& objects, const std::string& root,
                         Env& env);

}  // namespace sonde
