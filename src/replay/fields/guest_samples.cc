#include "replay/fields/guest_samples.h"

namespace sonde {

const GuestCpu* guest_of(const RecordView& record, EventId event, const EventTable& events) {
  if (events.guests().empty() || !is_guest_mode(record.cpu_mode()) || !event.valid())
    return nullptr;
  return events.guests().of(decode_trailing_id(record, events[event].layout).id);
}

const GuestCpu* GuestSamples::cpu_of(const SampleId& id, uint16_t cpu_mode) const {
  if (!is_guest_mode(cpu_mode)) return nullptr;
  if (const GuestCpu* own = ids_.of(id.id)) return own;
  const GuestCpu* run = ids_.run_by(id.tid);
  return run != nullptr && run->machine_pid == id.pid ? run : nullptr;
}

void GuestSamples::set_task(uint16_t cpu_mode, uint64_t time, SampleId& id) const {
  const GuestCpu* cpu = cpu_of(id, cpu_mode);
  if (cpu == nullptr) return;
  if (ids_.of(id.id) != nullptr) {
    id.pid = guest_task(cpu->guest, id.pid);
    id.tid = guest_task(cpu->guest, id.tid);
    return;
  }
  Machine::RunningTask running = machine_.running_on(*cpu, time);
  if (running.tid == UINT32_MAX) return;
  id.pid = running.pid;
  id.tid = running.tid;
}

}  // namespace sonde
