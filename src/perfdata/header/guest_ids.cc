#include "perfdata/header/guest_ids.h"

#include <algorithm>

namespace sonde {

bool GuestIds::add(uint64_t id, uint32_t machine_pid, uint32_t vcpu, uint32_t tid) {
  auto place = std::ranges::find(machines_, machine_pid);
  if (place == machines_.end()) {
    if (machines_.size() == kMostGuests) return false;
    place = machines_.insert(place, machine_pid);
  }
  GuestCpu cpu{static_cast<uint32_t>(place - machines_.begin()), machine_pid, vcpu};
  by_id_.insert_or_assign(id, cpu);
  if (tid != UINT32_MAX) by_thread_.insert_or_assign(tid, cpu);
  return true;
}

}  // namespace sonde
