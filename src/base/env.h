// Env: the whole outside world of a command. Commands take it as a parameter and touch nothing
// else, so a test can run any of them in-process with its own streams, variables and system calls.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/config.h"
#include "base/loss.h"
#include "base/sink.h"

namespace sonde {

class Sys;

struct Env {
  Sink& out;
  Sink& err;
  int in_fd = 0;       // standard input, for `-i -` and pipes
  int out_fd = 1;      // standard output, for `-o -`; -1 if not a descriptor (tests)
  Sys& sys;            // system calls that tests fake
  LossLedger& losses;  // reported at the end of every command
  std::map<std::string, std::string, std::less<>> variables = {};  // environment variables
  std::string tool = "sonde";  // "perf" when started under that name; shown in usage and messages
  Config config = {};          // perfconfig, read before the command line
  std::map<std::string, int, std::less<>> debug = {};  // --debug name=level
  std::string command_line = {};                       // argv as given, joined by blanks

  /// The value of an environment variable, if it is set and not empty.
  [[nodiscard]] std::optional<std::string> variable(std::string_view name) const {
    auto found = variables.find(name);
    if (found == variables.end() || found->second.empty()) return std::nullopt;
    return found->second;
  }
};

}  // namespace sonde
