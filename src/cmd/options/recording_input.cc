#include "cmd/options/recording_input.h"

#include <sys/stat.h>

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

}  // namespace sonde
