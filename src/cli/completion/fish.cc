// fish completion: a `complete` line per flag, on the condition that its command is on the line.
#include "base/text.h"
#include "cli/completion/scripts.h"

namespace sonde {
namespace {

// clang-format off
constexpr std::string_view kFishHead = R"SCRIPT(# fish completion for @tool@

# The commands and arguments on the line, without flags; nothing after "--", which is another program's command line.
function __@tool@_words
    set -l words (commandline -opc)
    contains -- -- $words; and return
    for word in $words[2..]
        string match -q -- '-*' $word; or echo $word
    end
end

# Whether the line is at `@tool@ FIRST`, or at `@tool@ FIRST SECOND`. Other arguments are the names of subcommands with flags of
# their own, which the line must not be at.
function __@tool@_at
    argparse 's/second=' -- $argv
    set -l words (__@tool@_words)
    test "$words[1]" = "$argv[1]"; or return
    if set -q _flag_second
        test "$words[2]" = "$_flag_second"
    else
        not contains -- "$words[2]" $argv[2..]
    end
end

function __@tool@_is_first
    set -l line (commandline -opc)
    contains -- -- $line; and return 1
    test (count (__@tool@_words)) = 0
end

# What @tool@ lists. Programs choose the names of their probes: one with characters that shells know is no name, and not offered.
function __@tool@_list
    @tool@ $argv 2>/dev/null | string split -n ' ' | string match -r -- '^[A-Za-z0-9_.:/,=-]+$'
end

complete -c @tool@ -n __@tool@_is_first -f -a "(__@tool@_list --list-opts | string match -v -- '*=')"
)SCRIPT";
// clang-format on

/// In single quotes, where fish knows \\ and \' only.
std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (char c : text) {
    if (c == '\\' || c == '\'') result += '\\';
    result += c;
  }
  return result + "'";
}

std::string fish_condition(std::string_view tool, const std::vector<std::string>& words,
                           const std::vector<std::string>& inner) {
  std::string call = fmt::format("__{}_at {}", tool, words[0]);
  if (words.size() > 1) return fish_quoted(fmt::format("{} --second {}", call, words[1]));
  for (const std::string& name : inner) call += " " + name;
  return fish_quoted(call);
}

std::string value_of(const Flag& flag, std::string_view tool) {
  // An attached value is not a word of its own; fish offers it after "=" only if it must be there.
  if (flag.takes == Flag::Takes::kNothing || flag.takes == Flag::Takes::kAttached) return {};
  switch (flag_value(flag)) {
    case FlagValue::kWords: {
      std::string words;
      for (const std::string& value : flag.values) words += (words.empty() ? "" : " ") + value;
      return " -x -a " + fish_quoted(words);
    }
    case FlagValue::kEvent:
      return fmt::format(" -x -a '(__{}_list list --raw-dump)'", tool);
    case FlagValue::kProcess:
      return " -x -a '(__fish_complete_pids)'";
    case FlagValue::kUser:
      return " -x -a '(__fish_complete_users)'";
    case FlagValue::kDirectory:
      return " -x -a '(__fish_complete_directories)'";
    case FlagValue::kFile:
      return " -r -F";
    case FlagValue::kOther:
      return " -x";
  }
  return {};
}

std::string flag_line(const Flag& flag, std::string_view tool, std::string_view condition) {
  std::string line = fmt::format("complete -c {} -n {}", tool, condition);
  if (flag.letter) line += fmt::format(" -s {}", flag.letter);
  if (!flag.name.empty()) line += " -l " + flag.name;
  line += value_of(flag, tool);
  return line + " -d " + fish_quoted(short_help(flag)) + "\n";
}

/// Subcommands that have flags of their own.
std::vector<std::string> inner_tables(const CommandInfo& info) {
  std::vector<std::string> names;
  for_each_command_table({&info, 1}, [&](const auto& words, const auto&, const FlagTable&) {
    if (words.size() > 1) names.push_back(words[1]);
  });
  return names;
}

}  // namespace

std::string fish_completion(std::string_view tool, CommandList commands) {
  std::string script = with_tool_name(kFishHead, tool);
  std::string first = fmt::format("complete -c {0} -n __{0}_is_first -f", tool);
  for_each_command_table(commands, [&](const auto& words, const auto& info, const auto& flags) {
    std::string at = fish_condition(tool, words, inner_tables(info));
    if (words.size() == 1) {
      script += fmt::format("\n{} -a {} -d {}\n", first, info.name, fish_quoted(info.summary));
      for (const std::string& name : flags.subcommands())
        script += fmt::format("complete -c {0} -n {1} -n 'test (count (__{0}_words)) = 1' -a {2}\n",
                              tool, at, name);
      if (info.name == "help")
        script +=
            fmt::format("complete -c {0} -n {1} -f -a '(__{0}_list --list-cmds)'\n", tool, at);
    }
    for (const Flag* flag : offered_flags(flags)) script += flag_line(*flag, tool, at);
  });
  return script;
}

}  // namespace sonde
