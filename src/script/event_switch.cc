#include "script/event_switch.h"

#include <algorithm>
#include <utility>

namespace sonde {

Result<EventSwitch> EventSwitch::make(const Choice& choice, const EventTable& events,
                                      std::string_view tool) {
  auto find = [&](std::string_view name, std::string_view what) -> Result<EventId> {
    if (name.empty()) return EventId();
    auto found = std::ranges::find(events.all(), name, &EventDesc::name);
    if (found != events.all().end())
      return EventId(static_cast<size_t>(found - events.all().begin()));
    return fail(ErrorCode::kNotFound,
                "ERROR: switch-{} event not found ({})\nHINT:  use '{} evlist' to see the "
                "available event names",
                what, name, tool);
  };
  EventSwitch made;
  made.on_ = TRY(find(choice.on, "on"));
  made.off_ = TRY(find(choice.off, "off"));
  made.show_switches_ = choice.show_switches;
  made.hides_ = made.on_.valid();
  return made;
}

bool EventSwitch::shows(EventId event) {
  bool switches = hides_ ? on_.valid() && event == on_ : off_.valid() && event == off_;
  if (!switches) return !hides_;
  hides_ = !hides_;
  return show_switches_;
}

}  // namespace sonde
