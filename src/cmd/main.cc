// The process around the commands: its streams, variables and exit status.
#include <csignal>
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

namespace {

/// A shell goes on with a loop if a command that Ctrl-C ended returns a status of its own. So that
/// it stops, the process dies by the signal that the status names.
int die_as(int status) {
  constexpr int kSignalled = 128;
  for (int number : {SIGINT, SIGTERM})
    if (status == kSignalled + number && std::signal(number, SIG_DFL) != SIG_ERR)
      (void)std::raise(number);
  return status;
}

}  // namespace

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
  return die_as(sonde::run_command_line(env, sonde::all_commands(), words));
}
