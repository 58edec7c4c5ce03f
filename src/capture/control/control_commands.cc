#include "capture/control/control_commands.h"

#include "event/pmu/attr_text.h"

namespace sonde {

bool ControlCommands::obey(ControlChannel& channel) {
  bool go_on = true;
  while (std::optional<ControlChannel::Command> command = channel.next())
    go_on &= obey(*command, channel);
  return go_on;
}

bool ControlCommands::obey(const ControlChannel::Command& command, ControlChannel& channel) {
  using Kind = ControlChannel::Command::Kind;
  bool go_on = true;
  switch (command.kind) {
    case Kind::kEnable:
    case Kind::kDisable:
      if (command.argument.empty())
        set_enabled(command.kind == Kind::kEnable);
      else
        set_one(command.argument, command.kind == Kind::kEnable);
      break;
    case Kind::kEventList:
      list_events(command.argument);
      break;
    case Kind::kStop:
      go_on = false;
      break;
    case Kind::kPing:
      break;
    case Kind::kSnapshot:
      if (actions_.take_snapshot)
        actions_.take_snapshot();
      else
        actions_.say("snapshot: there is no AUX area event to take one from, or no -S");
      break;
    case Kind::kUnknown:
      actions_.say(fmt::format("Message from control fd unsupported: '{}'", command.text));
      return true;
  }
  channel.acknowledge();
  return go_on;
}

void ControlCommands::set_enabled(bool on) {
  actions_.set_all(on);
  actions_.say(on ? "Events enabled" : "Events disabled");
}

void ControlCommands::set_one(std::string_view name, bool on) {
  if (actions_.set_one(name, on))
    actions_.say(fmt::format("Event {} {}", name, on ? "enabled" : "disabled"));
  else
    actions_.say(fmt::format("failed: can't find '{}' event", name));
}

void ControlCommands::list_events(std::string_view how) {
  for (const CaptureEvent& event : events_) {
    const abi::EventAttr& attr = event.attr();
    if (how == "-v")
      env_.err.print("{}: {}\n", event.parsed.name, attr_line(attr));
    else if (how == "-F")
      env_.err.print("{}: {}={}\n", event.parsed.name, attr.freq ? "sample_freq" : "sample_period",
                     uint64_t{attr.sample_period});
    else
      env_.err.print("{}\n", event.parsed.name);
  }
  env_.err.flush();
}

}  // namespace sonde
