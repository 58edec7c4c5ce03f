// Parses the command line against a table of flags, by perf's rules:
//
//   -ag            bundled letters; -F99 and -F 99 give a value, which takes the rest of its bundle
//   --freq=99      --freq 99; any unique prefix of a name will do; --no-name negates, and a flag
//                  called "no-name" is negated by --name and --no-no-name
//   --             ends the flags; so does the first other word if the table says so (record, stat,
//                  trace)
//   -h [word...]   --help, --list-opts, --list-cmds: available in every command
//
// Fields are written and callbacks run in flag order. A wrong flag ends the parsing.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cli/flags.h"

namespace sonde {

/// -h: the words after it choose which flags are shown; none for all of them.
struct HelpWanted {
  std::vector<std::string> words;
};
struct ManWanted {};  // --help
/// --list-opts; or --list-opts=--name: the values of that flag.
struct ListFlagsWanted {
  std::string name = {};  // without the dashes
};
struct ListCommandsWanted {};  // --list-cmds

/// The command line is wrong: the message, and the flags whose usage helps.
struct BadFlags {
  std::string message;  // " Error: ...", with a newline at its end if an empty line separates it
                        // from the usage
  bool show_usage = true;
  std::vector<const Flag*> about = {};  // empty: all of them
  std::string hint = {};                // "Did you mean '--call-graph'?"
};

/// Error: a callback rejected a value with its own Error.
using ParseOutcome = std::variant<Arguments, HelpWanted, ManWanted, ListFlagsWanted,
                                  ListCommandsWanted, BadFlags, Error>;

[[nodiscard]] ParseOutcome parse_flags(const FlagTable& table, std::span<const std::string> words);

}  // namespace sonde
