// Which tasks BPF programs follow, for a target on which perf events would otherwise be opened.
#pragma once

#include "bpf/followed_tasks.h"
#include "capture/opening/target.h"
#include "capture/recorders/record_options.h"

namespace sonde {

/// A target of CPUs means all tasks. For a command without a delay, following begins at its exec.
[[nodiscard]] FollowedTasks followed_tasks(const Target& target, bool inherit,
                                           const DelayOptions& delay);

/// Those of --pid or --tid, lists of ids as threads_of_either takes them.
Result<FollowedTasks> followed_tasks(const std::string& pids, const std::string& tids);

}  // namespace sonde
