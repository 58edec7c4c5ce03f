// What the recorders of waits that BPF programs measure (off_cpu_recorder.h, futex_recorder.h) have
// in common.
#pragma once

#include <string_view>

#include "base/env.h"
#include "bpf/measured_waits.h"
#include "capture/record_options.h"
#include "event/event_list.h"

namespace sonde {

/// A bpf-output event, which the kernel opens and never writes: a recorder does.
[[nodiscard]] ParsedEvent measured_event(std::string_view name);

/// Lines about what is missing of `waits`, "waits off the CPU".
void say_lost(const LostWaits& lost, std::string_view waits, const RecordOptions& options,
              Env& env);

}  // namespace sonde
