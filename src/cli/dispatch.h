// From a command line to a running command: global options, choice of the command, its flags, its
// outcome.
//
// Every command can rely on this: its perfconfig is read, errors are printed and turned into exit
// statuses, losses are reported on stderr when it has ended, and failed output is noticed.
#pragma once

#include <span>
#include <string>

#include "base/env.h"
#include "cli/command.h"

namespace sonde {

/// Runs a command line (`words[0]` is the program's name) with one of `commands` to its end and
/// returns the exit status: the command's own, 255 for failure, 129 for usage and bad events, 1 for
/// an unknown command, 141 after a closed pipe. All output is flushed.
int run_command_line(Env& env, CommandList commands, std::span<const std::string> words);

}  // namespace sonde
