// The event of `record --off-cpu`, offcpu-time: its samples tell where a thread waited; their
// period is the wait in ns. As in perf, it is a bpf-output event that the kernel opens but never
// writes; the recorder does (off_cpu_recorder.h).
#pragma once

#include "capture/recorders/measured_waits.h"
#include "perfdata/records/off_cpu_sample.h"

namespace sonde {

[[nodiscard]] inline ParsedEvent off_cpu_event() {
  return measured_event(kOffCpuEventName);
}
/// The event of --off-cpu-waker: who ended the waits (perfdata/records/off_cpu_sample.h).
[[nodiscard]] inline ParsedEvent waker_event() {
  return measured_event(kWakerEventName);
}
[[nodiscard]] inline bool is_off_cpu_event(const ParsedEvent& event) {
  return is_off_cpu_event(event.attr, event.name);
}

[[nodiscard]] inline bool is_waker_event(const ParsedEvent& event) {
  return is_waker_event(event.attr, event.name);
}

/// Sets what their samples hold, whatever those of other events hold.
void set_off_cpu_contents(abi::EventAttr& attr);

}  // namespace sonde
