// ControlCommands: what --control may ask of a running recording or count: enable or disable events
// (all or one), list them, ping, stop.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "capture/control/control_channel.h"
#include "capture/opening/capture_event.h"

namespace sonde {

class ControlCommands {
 public:
  /// Who carries the commands out.
  struct Actions {
    std::function<void(bool on)> set_all;
    std::function<bool(std::string_view name, bool on)> set_one;  // false: there is no such event
    std::function<void(std::string_view text)> say;               // -q may drop it
    std::function<void()> take_snapshot = {};  // empty: there is nothing to take one of
  };
  ControlCommands(Actions actions, Env& env, const std::vector<CaptureEvent>& events)
      : actions_(std::move(actions)), env_(env), events_(events) {}

  /// Executes and acknowledges the commands that have arrived. False if the run is to end.
  bool obey(ControlChannel& channel);
  /// Enables or disables all events, and reports it.
  void set_enabled(bool on);

 private:
  bool obey(const ControlChannel::Command& command, ControlChannel& channel);
  void set_one(std::string_view name, bool on);
  void list_events(std::string_view how);

  Actions actions_;
  Env& env_;
  const std::vector<CaptureEvent>& events_;
};

}  // namespace sonde
