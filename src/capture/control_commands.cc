#include "capture/control_commands.h"

#include "capture/capture_setup.h"
#include "event/attr_text.h"

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
      say_state("snapshot: there is no AUX area event to take one of");
      break;
    case Kind::kUnknown:
      say_state(fmt::format("Message from control fd unsupported: '{}'", command.text));
      return true;
  }
  channel.acknowledge();
  return go_on;
}

void ControlCommands::set_enabled(bool on) {
  if (on)
    switches_.enable();
  else
    switches_.disable();
  say_state(on ? "Events enabled" : "Events disabled");
}

void ControlCommands::set_one(std::string_view name, bool on) {
  if (switches_.set_one(name, on))
    say_state(fmt::format("Event {} {}", name, on ? "enabled" : "disabled"));
  else
    say_state(fmt::format("failed: can't find '{}' event", name));
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

void ControlCommands::say_state(std::string_view text) {
  say(options_, env_, text);
}

}  // namespace sonde
