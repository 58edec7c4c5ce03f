// The text of `-h`: usage lines and flags, as perf lays them out (flags with a letter first, sorted
// by letter ignoring case, then the others by name).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/sink.h"
#include "cli/flags.h"

namespace sonde {

/// " Usage: perf record [<options>]" and " or: ..." lines, after an empty line.
void print_usage_lines(Sink& out, std::string_view tool, std::string_view command,
                       const FlagTable& table);

/// Usage lines and all flags that are not hidden; if `words` are given, only flags that they name
/// (-x, x, --name, name) or whose help has the word. Ends with an empty line.
void print_usage(Sink& out, std::string_view tool, std::string_view command, const FlagTable& table,
                 const std::vector<std::string>& words = {});

/// Usage lines and the given flags.
void print_usage_of(Sink& out, std::string_view tool, std::string_view command,
                    const FlagTable& table, const std::vector<const Flag*>& about);

/// Flags in the order in which help and man pages show them: group by group, sorted within each.
[[nodiscard]] std::vector<const Flag*> sorted_flags(const FlagTable& table);

/// A text with commands in quotes, 'perf list', under the name that the tool was started by.
[[nodiscard]] std::string named_for(std::string_view tool, std::string text);

/// A flag's help, which names the tool as it was started: "use 'sonde list' to ...".
[[nodiscard]] std::string help_text(const Flag& flag, std::string_view tool);

/// "<file>", "[=<opts>]": how the value is shown after the flag.
[[nodiscard]] std::string value_syntax(const Flag& flag);

}  // namespace sonde
