// zsh completion: a call of _arguments per command.
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/completion/scripts.h"

namespace sonde {
namespace {

// clang-format off
constexpr std::string_view kZshHead = R"SCRIPT(#compdef @tool@
# zsh completion for @tool@

# Words are compared and quoted, never evaluated: programs choose the names of their probes. One with characters that shells know
# is no name, and not offered.
_@tool@_events() {
  local -a events
  events=("${(@s: :)$("$_@tool@_binary" list --raw-dump 2>/dev/null)}")
  events=("${(@)events:#(|*[^A-Za-z0-9_.:\/,=-]*)}")
  compadd -a events
}

)SCRIPT";

constexpr std::string_view kZshTail = R"SCRIPT(
_@tool@() {
  local curcontext=$curcontext context state state_descr line _@tool@_binary=$words[1]
  typeset -A opt_args
  _arguments -C \
    '(- *)'{-h,--help}'[list the commands]' \
    '(- *)'{-v,--version}'[show the version]' \
    '(-p --paginate)'{-p,--paginate}'[send output through the pager]' \
    '--no-pager[never start a pager]' \
    '--buildid-dir=[the build-id cache to use]:directory:_files -/' \
    '--debugfs-dir=[where debugfs is mounted]:directory:_files -/' \
    '1:command:_@tool@_commands' '*::argument:->arguments' && return
  [[ $state == arguments ]] || return
  local command=$words[1]
  curcontext=${curcontext%:*:*}:@tool@-$command:
  (( $+functions[_@tool@_$command] )) && _@tool@_$command || _files
}

_@tool@ "$@"
)SCRIPT";
// clang-format on

/// In single quotes, for the shell.
std::string zsh_quoted(std::string_view text) {
  std::string result = "'";
  for (char c : text) {
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  }
  return result + "'";
}

/// `text` inside a specification of _arguments, whose separators are escaped.
std::string escaped(std::string_view text, std::string_view separators) {
  std::string result;
  for (char c : text) {
    if (c == '\\' || separators.contains(c)) result += '\\';
    result += c;
  }
  return result;
}

std::string action(const Flag& flag, std::string_view tool) {
  switch (flag_value(flag)) {
    case FlagValue::kWords:
      return fmt::format("({})", fmt::join(flag.values, " "));
    case FlagValue::kEvent:
      return fmt::format("_{}_events", tool);
    case FlagValue::kProcess:
      return "_pids";
    case FlagValue::kUser:
      return "_users";
    case FlagValue::kDirectory:
      return "_files -/";
    case FlagValue::kFile:
      return "_files";
    case FlagValue::kOther:
      return " ";
  }
  return " ";
}

/// One spelling of a flag: `name` with its dashes.
std::string spec(const Flag& flag, const std::string& name, std::string_view tool) {
  bool is_long = name.starts_with("--");
  std::string text = "*" + name;
  if (flag.takes == Flag::Takes::kAttached) text += is_long ? "=-" : "-";
  if (flag.takes == Flag::Takes::kValue || flag.takes == Flag::Takes::kNextWord)
    text += is_long ? "=" : "+";
  text += "[" + escaped(short_help(flag), "[]:") + "]";
  if (flag.takes != Flag::Takes::kNothing) {
    bool is_optional = flag.takes != Flag::Takes::kValue;
    std::string value = flag.argument.empty() ? "value" : escaped(flag.argument, ":");
    text += fmt::format("{}:{}:{}", is_optional ? ":" : "", value, action(flag, tool));
  }
  return zsh_quoted(text);
}

std::string function_name(std::string_view tool, const std::vector<std::string>& words) {
  return fmt::format("_{}_{}", tool, fmt::join(words, "_"));
}

std::string function_of(std::string_view tool, const std::vector<std::string>& words,
                        const CommandInfo& info, const FlagTable& flags) {
  std::string text = function_name(tool, words) + "() {\n";
  if (words.size() == 1 && !flags.subcommands().empty())
    // The flags of a subcommand, where it has some of its own.
    text += fmt::format(
        "  if (( CURRENT > 2 && $+functions[_{}_{}_$words[2]] )); then\n"
        "    shift words; (( CURRENT-- )); _{}_{}_$words[1]; return\n  fi\n",
        tool, info.name, tool, info.name);
  text += "  _arguments -s -S";
  for (const Flag* flag : offered_flags(flags)) {
    if (flag->letter) text += " \\\n    " + spec(*flag, {'-', flag->letter}, tool);
    if (!flag->name.empty()) text += " \\\n    " + spec(*flag, "--" + flag->name, tool);
  }
  if (words.size() == 1 && info.name == "help")
    text += fmt::format(" \\\n    '1:command:_{}_commands'", tool);
  else if (words.size() == 1 && !flags.subcommands().empty())
    text += fmt::format(" \\\n    '1:subcommand:({})'", fmt::join(flags.subcommands(), " "));
  text +=
      flags.stops_at_first_word() ? " \\\n    '*::command:_normal'" : " \\\n    '*:file:_files'";
  return text + "\n}\n\n";
}

std::string commands_function(std::string_view tool, CommandList commands) {
  std::string text = fmt::format("_{}_commands() {{\n  local -a commands=(\n", tool);
  for (const CommandInfo& info : commands) {
    if (!info.hidden)
      text +=
          "    " + zsh_quoted(fmt::format("{}:{}", info.name, escaped(info.summary, ":"))) + "\n";
  }
  return text + "  )\n  _describe -t commands command commands\n}\n";
}

}  // namespace

std::string zsh_completion(std::string_view tool, CommandList commands) {
  std::string script = with_tool_name(kZshHead, tool);
  for_each_command_table(commands, [&](const auto& words, const auto& info, const auto& flags) {
    script += function_of(tool, words, info, flags);
  });
  return script + commands_function(tool, commands) + with_tool_name(kZshTail, tool);
}

}  // namespace sonde
