// Creates the factory for a command's events: what is needed to create USDT probes and load BPF
// programs.
#pragma once

#include <memory>

#include "base/env.h"
#include "capture/opening/owned_events.h"
#include "capture/recorders/record_options.h"

namespace sonde {

/// With `verbose`, reports on stderr what was created.
[[nodiscard]] std::unique_ptr<OwnedEvents> make_owned_events(Env& env, const TargetOptions& target,
                                                             const CompilerSettings& compiler,
                                                             Tracefs& tracefs, int verbose);

/// The llvm section of perfconfig.
void configure_compiler(const Config& config, CompilerSettings& compiler);

}  // namespace sonde
