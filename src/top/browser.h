// `top` on a terminal: the browser's tables on live data.
#pragma once

#include "capture/control/signal_queue.h"
#include "top/profile.h"

namespace sonde::top {

/// Runs until the user or a signal ends it. When the target has ended, the last tables stay.
Result<> browse(LiveProfile& profile, TopOptions& options, SignalQueue& signals, Poller& poller,
                Env& env);

}  // namespace sonde::top
