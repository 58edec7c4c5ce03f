// The maker of a command's events: what it needs to know of the world to make USDT probes and load
// BPF programs.
#pragma once

#include <memory>

#include "base/env.h"
#include "capture/made_events.h"
#include "capture/record_options.h"

namespace sonde {

/// With `verbose`, what was made is told on stderr.
[[nodiscard]] std::unique_ptr<MadeEvents> make_event_maker(Env& env, const TargetOptions& target,
                                                           const CompilerSettings& compiler,
                                                           Tracefs& tracefs, int verbose);

/// What perfconfig says under llvm.
void configure_compiler(const Config& config, CompilerSettings& compiler);

}  // namespace sonde
