// Shell completion. The script queries `--list-cmds` and `--list-opts`, so it knows every command
// and flag of the binary that it completes. perf's own script does the same and works with Sonde
// unchanged.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace sonde {

/// The script for `shell` ("bash"), for a program called `tool`.
[[nodiscard]] Result<std::string> completion_script(std::string_view shell, std::string_view tool);

}  // namespace sonde
