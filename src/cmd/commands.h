// The commands of this program, as commands.def lists them.
#pragma once

#include "cli/command.h"

namespace sonde {

/// All of them, in the order of commands.def.
[[nodiscard]] CommandList all_commands();

}  // namespace sonde
