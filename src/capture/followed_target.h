// Whom BPF programs follow where perf events would be opened for a target.
#pragma once

#include "bpf/followed_tasks.h"
#include "capture/record_options.h"
#include "capture/target.h"

namespace sonde {

/// A target of CPUs is everybody's work. For a command that is not delayed it begins when that is
/// executed.
[[nodiscard]] FollowedTasks followed_tasks(const Target& target, bool inherit,
                                           const DelayOptions& delay);

}  // namespace sonde
