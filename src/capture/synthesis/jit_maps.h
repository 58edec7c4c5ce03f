// Maps of JIT-compiled code (`record --jit auto`): asks the Java virtual machines among the
// recorded processes to write theirs, and copies those of processes in other mount namespaces here,
// where they outlive the process.
//
//   a command           its JVMs write their map when they exit: JAVA_TOOL_OPTIONS
//   -p, -t, -u, -a      the JVMs are asked when the recording begins and when it ends
#pragma once

#include <string>
#include <vector>

#include "capture/opening/target.h"

namespace sonde {

/// The value JAVA_TOOL_OPTIONS must have, besides its previous value, for a JVM to write its map at
/// exit. JVMs before 17, which cannot, ignore it.
std::string java_tool_options(const std::string& before, bool frame_pointers);

/// Asks the JVMs of `target`, which must not be a command. Returns a line for each one that did not
/// write its map.
std::vector<std::string> request_jit_maps(const Target& target);

}  // namespace sonde
