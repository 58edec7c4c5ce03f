// Closing events. The kernel waits for all CPUs when the last descriptor of a tracepoint is closed,
// some 35 ms each: hundreds of them (globs) would keep the user waiting for seconds after the
// recording is complete. Then a child that nobody waits for inherits the descriptors and closes
// them.
#pragma once

#include "base/sys.h"
#include "capture/capture_setup.h"

namespace sonde {

/// Unmaps the rings and closes all events of a recording, or hands them to a child where that is
/// worth it. Events of user-made probes are always closed here: the probe can then be removed at
/// once.
void close_events(Capture& capture, Sys& sys);

}  // namespace sonde
