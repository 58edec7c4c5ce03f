// `top --stdio`: screens as text, consecutive in a pipe, drawn over one another on a terminal,
// where keys are read.
#pragma once

#include "capture/control/signal_queue.h"
#include "top/profile.h"

namespace sonde::top {

/// Runs until the user, a signal or the end of the target ends it.
Result<> show_text(LiveProfile& profile, TopOptions& options, SignalQueue& signals, Poller& poller,
                   Env& env);

}  // namespace sonde::top
