#include "cli/command.h"

#include <algorithm>

namespace sonde {

const CommandInfo* find_command(CommandList commands, std::string_view name) {
  auto found = std::ranges::find(commands, name, &CommandInfo::name);
  return found == commands.end() ? nullptr : &*found;
}

}  // namespace sonde
