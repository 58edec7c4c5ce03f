// Asking a running Java virtual machine for something, as jcmd does, without a JDK here: HotSpot
// listens on a socket in its /tmp once a file asks it to (its "attach" mechanism).
//
//   TRY(jvm_command(4711, "Compiler.perfmap"));   // now there is a /tmp/perf-4711.map
//
// All paths are those of the process' own mount and pid namespace, so a machine in a container is
// asked just as well.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

/// The number that a process has in its innermost pid namespace.
Result<pid_t> pid_inside(pid_t pid);
/// Whether the process runs HotSpot: it has its library mapped.
bool runs_jvm(pid_t pid);

/// The machine's answer. Errors: kNotFound where the process is none, does not listen (-XX:
/// +DisableAttachMechanism) or is gone; kFailed with its own words where it refuses. Waits some
/// seconds at most.
Result<std::string> jvm_command(pid_t pid, std::string_view command);

}  // namespace sonde
