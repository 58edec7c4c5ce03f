#include "capture/opening/event_switch.h"

#include <linux/perf_event.h>

namespace sonde {

void EventSwitch::set(const CaptureEvent& event, bool on) const {
  for (const OpenedEvent& opened : event.opened)
    (void)sys_.ioctl(opened.fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void EventSwitch::set_all(bool on) const {
  for (size_t i = 0; i < events_.size(); ++i)
    if (events_[i].parsed.leader == i && !events_[i].is_immediate) set(events_[i], on);
}

bool EventSwitch::set_one(std::string_view name, bool on) const {
  bool found = false;
  for (const CaptureEvent& event : events_)
    if (event.parsed.name == name) {
      set(event, on);
      found = true;
    }
  return found;
}

}  // namespace sonde
