#include <algorithm>

#include "cmd/command.h"

namespace sonde {

#define COMMAND(name, summary) std::unique_ptr<Command> make_##name();
#define HIDDEN(name, summary) std::unique_ptr<Command> make_##name();
#include "cmd/commands.def"
#undef COMMAND
#undef HIDDEN

namespace {

std::string with_dashes(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

}  // namespace

const std::vector<CommandInfo>& all_commands() {
  static const std::vector<CommandInfo> commands = {
#define COMMAND(name, summary) {with_dashes(#name), summary, make_##name},
#define HIDDEN(name, summary) {with_dashes(#name), summary, make_##name, true},
#include "cmd/commands.def"
#undef COMMAND
#undef HIDDEN
  };
  return commands;
}

const CommandInfo* find_command(std::string_view name) {
  auto found = std::ranges::find(all_commands(), name, &CommandInfo::name);
  return found == all_commands().end() ? nullptr : &*found;
}

}  // namespace sonde
