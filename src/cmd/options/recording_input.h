// Which recording a subcommand reads: -i, -f and -v (some also have -D), accepted before or after
// the subcommand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "perfdata/read/file_scan.h"

namespace sonde {

struct RecordingInput {
  std::string path;  // empty: perf.data, or standard input if that is a pipe
  bool force = false;
  int verbose = 0;
  bool dump = false;  // -D, for commands that have it

  void declare(FlagTable& flags);
  [[nodiscard]] std::string chosen_path(const Env& env) const;
  [[nodiscard]] OpenOptions open_options(const Env& env) const;
  /// The chosen recording, to be read once from its start.
  [[nodiscard]] Result<FileScan> open_scan(Env& env) const;
  /// With -D, prints all records before the command reads them again. kUsage: a pipe.
  Result<> dump_first(Env& env) const;
};

/// An error that says what to record if a recording has none of these events; it names the first
/// one, "sched:sched_switch". `records`: the words of the command that makes such a recording,
/// "sched record".
Result<> need_one_of(const std::vector<std::string_view>& events, const FileScan& scan,
                     std::string_view records, const Env& env);

}  // namespace sonde
