// The process around the commands: its streams, variables and exit status.
#include <csignal>
#include <span>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/loss.h"
#include "base/memory_shortage.h"
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

/// A file that reaches its limit (ulimit -f) is a failed write like any other, which ends in a
/// message and a readable recording. Not ignored but handled, so that commands that are started
/// have the signal's usual effect.
void survive_file_limits() {
  struct sigaction action{};
  if (::sigaction(SIGXFSZ, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  sonde::end_quietly_without_memory();
  survive_file_limits();
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
