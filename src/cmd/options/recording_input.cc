#include "cmd/options/recording_input.h"

#include <sys/stat.h>

#include "replay/session.h"
#include "script/dump_tail.h"

namespace sonde {

void RecordingInput::declare(FlagTable& flags) {
  flags.text('i', "input", path, "file", "input file name");
  flags.boolean('f', "force", force, "don't complain, do it");
  flags.count('v', "verbose", verbose, "be more verbose");
}

std::string RecordingInput::chosen_path(const Env& env) const {
  if (!path.empty()) return path;
  struct stat info{};
  bool is_pipe = ::fstat(env.in_fd, &info) == 0 && S_ISFIFO(info.st_mode);
  return is_pipe ? "-" : "perf.data";
}

OpenOptions RecordingInput::open_options(const Env& env) const {
  return {.force = force, .stdin_fd = env.in_fd};
}

Result<FileScan> RecordingInput::open_scan(Env& env) const {
  return FileScan::open(chosen_path(env), open_options(env), env.losses);
}

Result<> RecordingInput::dump_first(Env& env) const {
  if (!dump) return {};
  std::string chosen = chosen_path(env);
  if (chosen == "-")
    return fail(ErrorCode::kUsage, "Error: -D reads the recording twice: give a file, not a pipe");
  LossLedger counted_again;  // what is lost, when the command reads
  Env apart{.out = env.out,
            .err = env.err,
            .in_fd = env.in_fd,
            .out_fd = env.out_fd,
            .sys = env.sys,
            .losses = counted_again,
            .variables = env.variables,
            .tool = env.tool,
            .config = env.config};
  SessionOptions options;
  options.open = open_options(env);
  options.want_symbols = options.want_chains = false;
  Session session = TRY(Session::open(chosen, options, apart));
  dump_session(session, {}, counted_again, env.out);
  return {};
}

}  // namespace sonde
