// Which files hold the user's perfconfig.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"

namespace sonde {

/// Only the file that PERF_CONFIG names, or else the system's and then the user's own. They need
/// not exist; later ones take precedence.
std::vector<std::string> config_files(const Env& env);

}  // namespace sonde
