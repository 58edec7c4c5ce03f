// Manual pages, generated from the table of flags that the parser uses.
//
// A Manual is plain data; it is rendered as troff (for `man` and for packagers: `sonde help --troff
// CMD`) or as text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/env.h"
#include "cli/command.h"
#include "cli/flags.h"

namespace sonde {

struct Manual {
  struct Option {
    std::string head;  // "-F, --fields=<key[,keys...]>"
    std::string text;
  };
  std::string tool = {};     // "sonde" or "perf"
  std::string command = {};  // "report"; empty for the page of the tool itself
  std::string_view summary = {};
  std::vector<std::string> synopsis = {};
  std::string description = {};
  std::vector<Option> options = {};
  std::vector<std::pair<std::string, std::string>> sections = {};
};

[[nodiscard]] Manual manual_of(std::string_view tool, const CommandInfo& info,
                               const FlagTable& flags);
/// The page of `sonde` itself: global options and the list of commands.
[[nodiscard]] Manual manual_of_tool(std::string_view tool, CommandList commands);

[[nodiscard]] std::string manual_as_troff(const Manual& manual);
[[nodiscard]] std::string manual_as_text(const Manual& manual);

/// Through man(1) on a terminal if it is installed, else as text.
void show_manual_page(Env& env, const Manual& manual);

/// What `sonde` without a command prints.
void print_command_list(Sink& out, CommandList commands, std::string_view tool);

}  // namespace sonde
