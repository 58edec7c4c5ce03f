// Maps of generated code (`record --jit auto`): asks the Java virtual machines among the recorded
// processes to write theirs, and brings those of processes in other mount namespaces here, where
// they outlive the process.
//
//   a command           its virtual machines write their map when they exit: JAVA_TOOL_OPTIONS
//   -p, -t, -u, -a      they are asked when the recording begins and when it ends
#pragma once

#include <string>
#include <vector>

#include "capture/target.h"

namespace sonde {

/// What JAVA_TOOL_OPTIONS must say so that a machine writes its map at its exit, besides what it
/// said before. Machines before 17, which cannot, take no notice.
std::string java_tool_options(const std::string& before, bool frame_pointers);

/// Asks the virtual machines of `target`, which must not be a command. A line for each that did not
/// write its map.
std::vector<std::string> request_jit_maps(const Target& target);

}  // namespace sonde
