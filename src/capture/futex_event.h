// The event of `record --futex`, futex-wait: its samples say where threads slept in futex(2), and
// as their period for how many ns. As offcpu-time (off_cpu_event.h) it is a bpf-output event, which
// the kernel opens and never writes; the recorder does (futex_recorder.h).
#pragma once

#include "event/event_list.h"
#include "perfdata/futex_sample.h"

namespace sonde {

[[nodiscard]] ParsedEvent futex_event();
[[nodiscard]] inline bool is_futex_event(const ParsedEvent& event) {
  return is_futex_event(event.attr, event.name);
}

}  // namespace sonde
