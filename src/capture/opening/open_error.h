// Explains why the kernel refused an event: what was asked for, the setting or privilege that
// forbids it, its current value, and what would help. The wording is the one perf's users know.
#pragma once

#include <string>

#include "base/error.h"
#include "capture/opening/capture_event.h"
#include "capture/opening/target.h"

namespace sonde {

/// `by_seccomp`: the kernel was not even asked (base/process/seccomp.h).
Error explain_open_failure(const CaptureEvent& event, const Target& target, int error, int paranoid,
                           bool by_seccomp = false);

/// The same for mapping a ring of `pages` pages.
Error explain_map_failure(size_t pages, int error);

}  // namespace sonde
