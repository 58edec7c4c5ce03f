// What the scripts for several shells have in common.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/flags.h"

namespace sonde {

/// `script` with each @tool@ replaced.
[[nodiscard]] std::string with_tool_name(std::string_view script, std::string_view tool);

/// Calls `on_table` for each command that is not hidden, and after it for each of its subcommands
/// that has flags of its own (`sched record`). `words` is the command, or both.
using OnCommandTable = std::function<void(const std::vector<std::string>& words,
                                          const CommandInfo& info, const FlagTable& flags)>;
void for_each_command_table(CommandList commands, const OnCommandTable& on_table);

/// The flags to offer: neither hidden nor refused.
[[nodiscard]] std::vector<const Flag*> offered_flags(const FlagTable& flags);

/// The first line of a flag's help.
[[nodiscard]] std::string_view short_help(const Flag& flag);

/// What a flag's value is, as far as a shell can list it.
enum class FlagValue { kOther, kWords, kFile, kDirectory, kEvent, kProcess, kUser };
[[nodiscard]] FlagValue flag_value(const Flag& flag);

[[nodiscard]] std::string fish_completion(std::string_view tool, CommandList commands);
[[nodiscard]] std::string zsh_completion(std::string_view tool, CommandList commands);

}  // namespace sonde
