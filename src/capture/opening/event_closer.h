// Closing events. When the last descriptor of a tracepoint is closed, the kernel waits for all
// CPUs, about 35 ms each time. Hundreds of them (globs) would keep the user waiting for seconds
// after the recording is complete, so they are closed in the background (base/background_close.h).
#pragma once

#include "base/sys.h"
#include "capture/recorders/capture_setup.h"

namespace sonde {

/// Unmaps the rings and closes all events of a recording. Events of user-made probes are always
/// closed synchronously, so that the probe can be removed at once.
void close_events(Capture& capture, Sys& sys);

}  // namespace sonde
