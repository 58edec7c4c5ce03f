#include "cli/pager.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/file.h"

namespace sonde {
namespace {

std::string pager_command(const Env& env) {
  if (auto own = env.variable("PERF_PAGER")) return *own;
  if (auto configured = env.config.get("core.pager")) return std::string(*configured);
  if (auto general = env.variable("PAGER")) return *general;
  for (const char* path : {"/usr/bin/less", "/bin/less", "/usr/bin/more", "/bin/more"})
    if (::access(path, X_OK) == 0) return path;
  return "cat";
}

}  // namespace

void Pager::start() {
  std::string command = pager_command(env_);
  if (command == "cat" || child_ >= 0) return;
  int ends[2];
  if (::pipe(ends) != 0) return;
  Fd reading(ends[0]), writing(ends[1]);
  env_.out.flush();
  child_ = ::fork();
  if (child_ < 0) return;
  if (child_ == 0) {
    ::dup2(reading.get(), 0);
    reading.reset();
    writing.reset();
    // As in perf: exit at once if the output fits on a screen, pass colours through.
    if (!env_.variable("LESS")) ::setenv("LESS", "FRSX", 0);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  ::dup2(writing.get(), 1);
  env_.variables.insert_or_assign("PERF_PAGER_IN_USE", "true");
}

Pager::~Pager() {
  if (child_ < 0) return;
  env_.out.flush();
  // End of file on its input lets the pager finish.
  ::close(1);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace sonde
