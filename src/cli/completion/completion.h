// Shell completion, for packagers: `sonde help --completion SHELL`.
//
// The scripts of zsh and fish are written from the tables of flags, with each flag's help beside
// it. bash's queries `--list-cmds` and `--list-opts` when a key is pressed, because bash shows no
// help; perf's own script does the same and works with Sonde unchanged.
//
// The scripts take what they query for data: no shell evaluates it, and only what
// is_completion_word (base/foreign/plain_name.h) accepts is offered. Sonde prints nothing else for
// them, but the program of that name may be an older one.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/command.h"

namespace sonde {

/// The script for `shell` (bash, zsh or fish), for a program called `tool` with these commands.
[[nodiscard]] Result<std::string> completion_script(std::string_view shell, std::string_view tool,
                                                    CommandList commands);

}  // namespace sonde
