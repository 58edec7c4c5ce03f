// The event of `record --futex`, futex-wait: its samples say where threads slept in futex(2), and
// as their period for how many ns. As offcpu-time (off_cpu_event.h) it is a bpf-output event, which
// the kernel opens and never writes; the recorder does (futex_recorder.h).
#pragma once

#include "capture/measured_waits.h"
#include "perfdata/futex_sample.h"

namespace sonde {

[[nodiscard]] inline ParsedEvent futex_event() {
  return measured_event(kFutexEventName);
}
[[nodiscard]] inline bool is_futex_event(const ParsedEvent& event) {
  return is_futex_event(event.attr, event.name);
}

}  // namespace sonde
