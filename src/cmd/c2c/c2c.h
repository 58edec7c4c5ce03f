// The subcommands of `c2c`.
#pragma once

#include <memory>

#include "cli/command.h"

namespace sonde {

std::unique_ptr<Command> make_c2c_record();
std::unique_ptr<Command> make_c2c_report();

}  // namespace sonde
