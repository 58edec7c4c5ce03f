// A command that runs another one with words inserted before the user's: `sched record -g -- make`
// is `record -a … -e sched:sched_switch … -g -- make`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"

namespace sonde {

/// `words` are flags of `command`; if it rejects them, running it fails with its message.
/// `description` replaces its own.
std::unique_ptr<Command> preset(std::unique_ptr<Command> command, std::vector<std::string> words,
                                std::string_view description);

}  // namespace sonde
