// Why the kernel refused an event, in words: what was asked for, the setting or the privilege that
// forbids it, its value now, and what would help. The sentences are those that perf's users know.
#pragma once

#include <string>

#include "base/error.h"
#include "capture/capture_event.h"
#include "capture/target.h"

namespace sonde {

Error explain_open_failure(const CaptureEvent& event, const Target& target, int error,
                           int paranoid);

/// The same for mapping a ring of `pages` pages.
Error explain_map_failure(size_t pages, int error);

}  // namespace sonde
