// The command line against a table of flags, by perf's rules:
//
//   -ag            letters in a bundle; -F99 and -F 99 give a value, which takes the rest of its
//   bundle
//   --freq=99      --freq 99; any unique beginning of a name will do; --no-name negates, and a flag
//   that is called
//                  "no-name" is negated by --name and --no-no-name
//   --             ends the flags; so does the first other word where the table says so (record,
//   stat, trace) -h [word...]   --help, --list-opts, --list-cmds are every command's
//
// Fields are written and callbacks run as the flags come. A wrong flag ends the parsing.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cmd/flags.h"

namespace sonde {

/// -h: the words behind it choose which flags are shown; none for all of them.
struct HelpWanted {
  std::vector<std::string> words;
};
struct ManWanted {};  // --help
/// --list-opts; or --list-opts=--name: the values of that flag.
struct ListFlagsWanted {
  std::string name = {};  // without the dashes
};
struct ListCommandsWanted {};  // --list-cmds

/// The command line is wrong: what to say, and the flags whose usage helps.
struct BadFlags {
  std::string
      message;  // " Error: ...", with its newline where an empty line parts it from the usage
  bool show_usage = true;
  std::vector<const Flag*> about = {};  // empty: all of them
};

/// A callback refused a value with an Error of its own.
using ParseOutcome = std::variant<Arguments, HelpWanted, ManWanted, ListFlagsWanted,
                                  ListCommandsWanted, BadFlags, Error>;

[[nodiscard]] ParseOutcome parse_flags(const FlagTable& table, std::span<const std::string> words);

}  // namespace sonde
