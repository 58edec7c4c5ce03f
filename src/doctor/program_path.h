// Which file a user means by a program.
#pragma once

#include <string>

#include "base/env.h"
#include "base/error.h"

namespace sonde::doctor {

/// Of a path, a name in PATH, or the number of a process. kNotFound if there is none.
[[nodiscard]] Result<std::string> program_path(const std::string& program, const Env& env);

/// The C library that this process runs with; empty if that is not known.
[[nodiscard]] std::string own_library();

}  // namespace sonde::doctor
