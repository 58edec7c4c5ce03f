// EventSwitch: switches a recording's events on and off, all at once or one by name.
#pragma once

#include <string_view>
#include <vector>

#include "base/sys.h"
#include "capture/opening/capture_event.h"

namespace sonde {

class EventSwitch {
 public:
  EventSwitch(Sys& sys, const std::vector<CaptureEvent>& events) : sys_(sys), events_(events) {}

  /// Leaders switch their whole groups. The event that carries the sideband is left as it is.
  void enable() const { set_all(true); }
  void disable() const { set_all(false); }
  /// False if no event has that name.
  bool set_one(std::string_view name, bool on) const;

 private:
  void set_all(bool on) const;
  void set(const CaptureEvent& event, bool on) const;

  Sys& sys_;
  const std::vector<CaptureEvent>& events_;
};

}  // namespace sonde
