#include "cmd/options/recording_input.h"

#include <sys/stat.h>

#include <algorithm>

#include "replay/session.h"
#include "script/dump_tail.h"

namespace sonde {

void RecordingInput::declare(FlagTable& flags) {
  flags.text('i', "input", path, "file",
             "read this recording (default: standard input if it is a pipe, else perf.data)");
  flags.boolean('f', "force", force, "read the recording even if it belongs to another user");
  flags.count('v', "verbose", verbose, "show more details; which ones depends on the command");
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
  options.want_symbols = false;
  options.chains.reset();
  Session session = TRY(Session::open(chosen, options, apart));
  dump_session(session, {}, counted_again, env.out);
  return {};
}

Result<> need_one_of(const std::vector<std::string_view>& events, const FileScan& scan,
                     std::string_view records, const Env& env) {
  bool has_one = std::ranges::any_of(scan.events().all(), [&](const EventDesc& event) {
    return std::ranges::find(events, event.name) != events.end();
  });
  if (has_one) return {};
  return fail(ErrorCode::kFailed, "{}: no {} events; '{} {}' makes such a recording",
              scan.facts().path, events.front(), env.tool, records);
}

}  // namespace sonde
