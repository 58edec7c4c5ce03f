// Whose samples those of a virtual machine are, in a recording that holds what its guest recorded
// (`inject --guest-data`).
//
// A sample with a guest's id names the guest's task itself. One that the host took while the guest
// ran names the thread of the host that ran the virtual CPU; which task of the guest that was, its
// records of switches say.
#pragma once

#include "machine/machine.h"
#include "perfdata/header/event_table.h"

namespace sonde {

/// Whose record this is, by its id block: one that is no sample, of this event. Null: the host's.
[[nodiscard]] const GuestCpu* guest_of(const RecordView& record, EventId event,
                                       const EventTable& events);

class GuestSamples {
 public:
  /// Both must outlive this object.
  GuestSamples(const EventTable& events, const Machine& machine)
      : ids_(events.guests()), machine_(machine) {}

  /// False: all samples are the host's.
  [[nodiscard]] bool any() const { return !ids_.empty(); }
  /// The virtual CPU that a sample is of, by its fields as recorded; null if it is the host's.
  [[nodiscard]] const GuestCpu* cpu_of(const SampleId& id, uint16_t cpu_mode) const;
  /// Replaces the task of a guest's sample by the guest's own, with the number that it has in the
  /// machine. Leaves the host's thread where the guest does not say what it ran.
  void set_task(uint16_t cpu_mode, uint64_t time, SampleId& id) const;

 private:
  const GuestIds& ids_;
  const Machine& machine_;
};

}  // namespace sonde
