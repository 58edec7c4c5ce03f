// What the recorders of waits measured by BPF programs (off_cpu_recorder.h, futex_recorder.h) have
// in common.
#pragma once

#include <string_view>

#include "base/env.h"
#include "bpf/measured_waits.h"
#include "capture/recorders/record_options.h"
#include "event/parser/event_list.h"

namespace sonde {

/// A bpf-output event that the kernel opens but never writes: a recorder does.
[[nodiscard]] ParsedEvent measured_event(std::string_view name);

/// Prints lines about what is missing from `waits`, e.g. "waits off the CPU".
void report_lost(const LostWaits& lost, std::string_view waits, const RecordOptions& options,
                 Env& env);

}  // namespace sonde
