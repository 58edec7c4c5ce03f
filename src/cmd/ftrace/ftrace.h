// The subcommands of `ftrace`, and the flags that they share.
#pragma once

#include <memory>

#include "cli/command.h"
#include "ftrace/run.h"

namespace sonde {

/// -p, --tid, -a, -C, -v.
void declare_target(FlagTable& flags, FtraceTarget& target);
/// -m.
void declare_buffer_size(FlagTable& flags, TraceSettings& settings);

std::unique_ptr<Command> make_ftrace_latency();
std::unique_ptr<Command> make_ftrace_profile();

}  // namespace sonde
