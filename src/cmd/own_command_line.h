// This process's command line, as recordings keep it.
#pragma once

#include <string>
#include <vector>

namespace sonde {

/// The words, the program by its full path: what the CMDLINE feature holds.
std::vector<std::string> own_command_line();

}  // namespace sonde
