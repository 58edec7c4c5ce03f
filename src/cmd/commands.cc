#include "cmd/commands.h"

#include <algorithm>
#include <vector>

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

CommandList all_commands() {
  static const std::vector<CommandInfo> commands = {
#define COMMAND(name, summary) {with_dashes(#name), summary, make_##name},
#define HIDDEN(name, summary) {with_dashes(#name), summary, make_##name, true},
#include "cmd/commands.def"
#undef COMMAND
#undef HIDDEN
  };
  return commands;
}

}  // namespace sonde
