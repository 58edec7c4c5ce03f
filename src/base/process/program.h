// Programs that a command line names, looked for as execvp does.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace sonde {

/// The file that `program` starts; empty if there is none. `path`: $PATH.
[[nodiscard]] std::string find_program(const std::string& program, std::string_view path);

/// kFailed if `program` cannot be executed, with the reason, and what was probably meant: for a
/// look before anything is opened, replaced or attached for a command that never runs.
[[nodiscard]] Result<> check_program(const std::string& program, std::string_view path);

}  // namespace sonde
