#include "cmd/options/recording_input.h"

#include <unistd.h>

#include <algorithm>

#include "script/dump_tail.h"

namespace sonde {

void RecordingInput::declare_file(FlagTable& flags) {
  flags.text('i', "input", path, "file",
             "read this recording (default: standard input if that is a pipe, else perf.data)");
  flags.boolean('f', "force", force, "read the recording even if it belongs to another user");
}

void RecordingInput::declare(FlagTable& flags) {
  declare_file(flags);
  flags.count('v', "verbose", verbose, "show more details; which ones depends on the command");
}

std::string RecordingInput::chosen_path(const Env& env) const {
  return path.empty() ? default_recording(env.in_fd) : path;
}

bool RecordingInput::is_standard_input() const {
  return (path.empty() ? default_recording(STDIN_FILENO) : path) == "-";
}

OpenOptions RecordingInput::open_options(const Env& env) const {
  return {.force = force, .stdin_fd = env.in_fd};
}

Result<FileScan> RecordingInput::open_scan(Env& env) const {
  return FileScan::open(chosen_path(env), open_options(env), env.losses);
}

Result<Recording> RecordingInput::open_recording(const Env& env) const {
  return Recording::open(chosen_path(env), open_options(env), env.losses);
}

Result<Session> RecordingInput::open_session(SessionOptions options, const Env& env) const {
  options.open.force = force;
  options.open.stdin_fd = env.in_fd;
  return Session::open(chosen_path(env), std::move(options), env);
}

Result<> RecordingInput::dump_first(Env& env) const {
  if (!dump) return {};
  if (chosen_path(env) == "-")
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
  options.want_symbols = false;
  options.chains.reset();
  Session session = TRY(open_session(std::move(options), apart));
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
