// The cgroup that a task of a benchmark belongs to. Cgroups are the user's: none is made or
// removed.
#pragma once

#include <string>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

/// The file that accepts new members of "web" or "/web", opened for writing: threads or whole
/// processes. Errors: kNotFound, kPermission.
Result<Fd> open_cgroup_members(const std::string& name, bool threads);

/// Moves the calling thread, or process, into the cgroup of that file.
[[nodiscard]] bool enter_cgroup(int members);

}  // namespace sonde
