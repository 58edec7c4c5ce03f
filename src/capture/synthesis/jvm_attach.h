// Sends a request to a running Java virtual machine, as jcmd does, but without needing a JDK:
// HotSpot listens on a socket in its /tmp once a file asks it to (its "attach" mechanism).
//
//   TRY(jvm_command(4711, "Compiler.perfmap"));   // now there is a /tmp/perf-4711.map
//
// All paths are resolved in the process's own mount and pid namespace, so this also works for a JVM
// in a container.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

/// The pid of the process in its innermost pid namespace.
Result<pid_t> pid_inside(pid_t pid);
/// Whether the process runs HotSpot, i.e. has its library mapped.
bool runs_jvm(pid_t pid);

/// The JVM's answer. Errors: kNotFound if the process is not a JVM, does not listen
/// (-XX:+DisableAttachMechanism) or is gone; kFailed with the JVM's message if it refuses. Waits a
/// few seconds at most.
Result<std::string> jvm_command(pid_t pid, std::string_view command);

}  // namespace sonde
