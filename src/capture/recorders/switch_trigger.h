// SwitchTrigger: --switch-output-event. Events that are opened alongside the recording and leave
// nothing in it: whenever one of them occurs, the output is switched.
#pragma once

#include <vector>

#include "base/error.h"
#include "capture/opening/event_opener.h"
#include "capture/recorders/capture_setup.h"

namespace sonde {

class SwitchTrigger {
 public:
  /// Opens `list` on the CPUs of the machine.
  static Result<SwitchTrigger> open(const EventList& list, Env& env);
  SwitchTrigger(SwitchTrigger&&) = default;
  ~SwitchTrigger();

  void enable();
  /// Descriptors that become readable when an event occurs.
  [[nodiscard]] std::vector<int> fds() const;
  /// Whether any event has occurred since the last call.
  bool take();

 private:
  explicit SwitchTrigger(Sys& sys) : sys_(&sys) {}
  Sys* sys_;
  Target target_;
  std::vector<CaptureEvent> events_;
  std::optional<RingSet> rings_;
};

}  // namespace sonde
