#include "cli/completion/scripts.h"

#include <algorithm>
#include <memory>

#include "base/text.h"

namespace sonde {
namespace {

/// "<file>" is the value "file".
std::string_view bare_argument(const Flag& flag) {
  std::string_view name = flag.argument;
  size_t first = name.find_first_not_of("<[=");
  if (first == std::string_view::npos) return {};
  return name.substr(first, name.find_last_not_of(">]") + 1 - first);
}

}  // namespace

std::string with_tool_name(std::string_view script, std::string_view tool) {
  constexpr std::string_view kPlace = "@tool@";
  std::string result(script);
  for (size_t at = 0; (at = result.find(kPlace, at)) != std::string::npos; at += tool.size())
    result.replace(at, kPlace.size(), tool);
  return result;
}

void for_each_command_table(CommandList commands, const OnCommandTable& on_table) {
  for (const CommandInfo& info : commands) {
    if (info.hidden) continue;
    std::unique_ptr<Command> command = info.make();
    FlagTable flags;
    command->declare(flags);
    on_table({info.name}, info, flags);
    for (const std::string& name : flags.subcommands()) {
      std::unique_ptr<Command> inner = command->subcommand({.words = {name}});
      if (!inner) continue;
      FlagTable inner_flags;
      inner->declare(inner_flags);
      on_table({info.name, name}, info, inner_flags);
    }
  }
}

std::vector<const Flag*> offered_flags(const FlagTable& flags) {
  std::vector<const Flag*> offered;
  for (const Flag& flag : flags.flags())
    if (!flag.is_hidden && flag.refusal.empty()) offered.push_back(&flag);
  return offered;
}

std::string_view short_help(const Flag& flag) {
  return std::string_view(flag.help).substr(0, flag.help.find('\n'));
}

FlagValue flag_value(const Flag& flag) {
  if (!flag.values.empty()) return FlagValue::kWords;
  if (flag.name == "event") return FlagValue::kEvent;
  std::string_view name = bare_argument(flag);
  auto is_one_of = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, name) != words.end();
  };
  if (is_one_of({"pid", "tid"})) return FlagValue::kProcess;
  if (is_one_of({"user", "uid"})) return FlagValue::kUser;
  if (is_one_of({"dir", "directory"})) return FlagValue::kDirectory;
  if (is_one_of({"file", "path", "script", "vmlinux"})) return FlagValue::kFile;
  return FlagValue::kOther;
}

}  // namespace sonde
