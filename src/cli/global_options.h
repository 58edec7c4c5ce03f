// The options before the command: `perf [--version] [-p | --no-pager] [--buildid-dir DIR] ...
// COMMAND`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/env.h"
#include "cli/command.h"

namespace sonde {

struct GlobalOptions {
  enum class Paging { kAsConfigured, kAlways, kNever } paging = Paging::kAsConfigured;
  size_t used = 0;  // how many words they took
  /// The exit status, if the options were handled completely or are wrong.
  std::optional<int> done;
  /// The command that an option stands for: --version is `version`.
  std::vector<std::string> command_instead;
};

/// Reads options up to the first other word, prints what they ask for, and stores settings in
/// `env`: directories as environment variables (PERF_BUILDID_DIR, PERF_DEBUGFS_DIR,
/// PERF_EXEC_PATH), debug levels in env.debug.
[[nodiscard]] GlobalOptions read_global_options(Env& env, CommandList commands,
                                                std::span<const std::string> words);

/// " usage: perf [--version] ..." on one line.
[[nodiscard]] std::string global_usage(std::string_view tool);

}  // namespace sonde
