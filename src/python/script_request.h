// What `script` does with scripts: -s, --list, -g, and the words `record NAME`, `report NAME`,
// `NAME`.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "script/options.h"

namespace sonde {

/// Whether the command line asks for anything of the kind. `words`: those after the options.
[[nodiscard]] bool asks_for_scripts(const ScriptOptions& options,
                                    const std::vector<std::string>& words);
/// Does it, and returns the exit status. `options.input` is chosen; `input_given`: by the user.
Result<int> run_script_request(const ScriptOptions& options, const std::vector<std::string>& words,
                               bool input_given, Env& env);

}  // namespace sonde
