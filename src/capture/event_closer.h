// Closing events. The kernel waits for all CPUs when the last descriptor of a tracepoint is closed,
// some 35 ms each: hundreds of them (globs) would keep the user waiting for seconds after the
// recording is complete, so it does not (base/background_close.h).
#pragma once

#include "base/sys.h"
#include "capture/capture_setup.h"

namespace sonde {

/// Unmaps the rings and closes all events of a recording. Events of user-made probes are always
/// closed here: the probe can then be removed at once.
void close_events(Capture& capture, Sys& sys);

}  // namespace sonde
