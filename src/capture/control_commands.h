// ControlCommands: what --control may ask of a recording that runs: events on and off, all or one;
// their list; an answer; its end.
#pragma once

#include <string_view>
#include <vector>

#include "base/env.h"
#include "capture/capture_event.h"
#include "capture/control_channel.h"
#include "capture/event_switch.h"
#include "capture/record_options.h"

namespace sonde {

class ControlCommands {
 public:
  ControlCommands(const RecordOptions& options, Env& env, const std::vector<CaptureEvent>& events,
                  EventSwitch& switches)
      : options_(options), env_(env), events_(events), switches_(switches) {}

  /// Obeys and acknowledges what has come. False where the recording is to end.
  bool obey(ControlChannel& channel);
  /// All events on or off, and said.
  void set_enabled(bool on);

 private:
  bool obey(const ControlChannel::Command& command, ControlChannel& channel);
  void set_one(std::string_view name, bool on);
  void list_events(std::string_view how);
  void say_state(std::string_view text);

  const RecordOptions& options_;
  Env& env_;
  const std::vector<CaptureEvent>& events_;
  EventSwitch& switches_;
};

}  // namespace sonde
