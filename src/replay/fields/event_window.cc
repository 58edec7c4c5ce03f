#include "replay/fields/event_window.h"

#include <algorithm>
#include <utility>

namespace sonde {

Result<EventWindow> EventWindow::make(const Choice& choice, const EventTable& events,
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
  EventWindow made;
  made.on_ = TRY(find(choice.on, "on"));
  made.off_ = TRY(find(choice.off, "off"));
  made.show_switching_ = choice.show_switching;
  made.hides_ = made.on_.valid();
  return made;
}

bool EventWindow::shows(EventId event) {
  bool switches = hides_ ? on_.valid() && event == on_ : off_.valid() && event == off_;
  if (!switches) return !hides_;
  hides_ = !hides_;
  return show_switching_;
}

}  // namespace sonde
