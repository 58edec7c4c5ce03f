// The process around the commands: its streams, variables and exit status.
#include <span>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/loss.h"
#include "base/sink.h"
#include "base/sys.h"
#include "cli/dispatch.h"
#include "cmd/commands.h"

extern char** environ;

int main(int argc, char** argv) {
  sonde::FdSink out(1);
  sonde::FdSink err(2);
  sonde::LossLedger losses;
  sonde::Env env{.out = out, .err = err, .sys = sonde::Sys::host(), .losses = losses};
  for (char** variable = environ; *variable; ++variable) {
    std::string_view text = *variable;
    if (size_t equals = text.find('='); equals != std::string_view::npos)
      env.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  std::vector<std::string> words(argv, argv + argc);
  return sonde::run_command_line(env, sonde::all_commands(), words);
}
