// This process's command line, as stored in recordings.
#pragma once

#include <string>
#include <vector>

namespace sonde {

/// The words, with the program's full path: the content of the CMDLINE feature.
std::vector<std::string> own_command_line();

}  // namespace sonde
