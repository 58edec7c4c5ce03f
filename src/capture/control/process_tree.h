// A child of ours with all that it started.
#pragma once

#include <sys/types.h>

namespace sonde {

/// Kills `child`, which nobody may have waited for yet, and all its descendants (SIGKILL). They are
/// stopped first, so that none of them starts another meanwhile. Those whose parent has ended are
/// nobody's descendants any more, and go on.
void kill_with_descendants(pid_t child);

}  // namespace sonde
