// Which recording a command reads: -i and -f, and how it is opened. The subcommands of tracepoints
// also take -v (some -D), before or after the subcommand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "perfdata/read/file_scan.h"
#include "replay/session.h"

namespace sonde {

struct RecordingInput {
  std::string path;  // empty: perf.data, or standard input if that is a pipe
  bool force = false;
  int verbose = 0;
  bool dump = false;  // -D, for commands that have it

  /// -i and -f.
  void declare_file(FlagTable& flags);
  /// -i, -f and -v.
  void declare(FlagTable& flags);
  /// The path, or what is read without one (default_recording).
  [[nodiscard]] std::string chosen_path(const Env& env) const;
  /// The same before a command runs: whether that is standard input.
  [[nodiscard]] bool is_standard_input() const;
  [[nodiscard]] OpenOptions open_options(const Env& env) const;
  /// The chosen recording, to be read once from its start.
  [[nodiscard]] Result<FileScan> open_scan(Env& env) const;
  /// The chosen recording, without its samples resolved.
  [[nodiscard]] Result<Recording> open_recording(const Env& env) const;
  /// The chosen recording, replayed; `options.open` says nothing of files.
  [[nodiscard]] Result<Session> open_session(SessionOptions options, const Env& env) const;
  /// With -D, prints all records before the command reads them again. kUsage: a pipe.
  Result<> dump_first(Env& env) const;
};

/// An error that says what to record if a recording has none of these events; it names the first
/// one, "sched:sched_switch". `records`: the words of the command that makes such a recording,
/// "sched record".
Result<> need_one_of(const std::vector<std::string_view>& events, const FileScan& scan,
                     std::string_view records, const Env& env);

}  // namespace sonde
