// The event of `record --futex`, futex-wait: its samples tell where threads slept in futex(2);
// their period is the wait in ns. Like offcpu-time (off_cpu_event.h) it is a bpf-output event that
// the kernel opens but never writes; the recorder does (futex_recorder.h).
#pragma once

#include "capture/recorders/measured_waits.h"
#include "perfdata/records/futex_sample.h"

namespace sonde {

[[nodiscard]] inline ParsedEvent futex_event() {
  return measured_event(kFutexEventName);
}
[[nodiscard]] inline bool is_futex_event(const ParsedEvent& event) {
  return is_futex_event(event.attr, event.name);
}

}  // namespace sonde
