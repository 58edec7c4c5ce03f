#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "selftest/workloads/workload.h"

namespace sonde::selftest {
namespace {

bool pass_on(int in, int out) {
  char byte = 0;
  return ::read(in, &byte, 1) == 1 && ::write(out, &byte, 1) == 1;
}

}  // namespace

extern "C" SONDE_KEPT bool context_switch_loop_proc1(int in, int out, unsigned count) {
  char byte = 0;
  for (unsigned i = 0; i < count; ++i)
    if (::write(out, &byte, 1) != 1 || ::read(in, &byte, 1) != 1) return false;
  return true;
}

extern "C" SONDE_KEPT bool context_switch_loop_proc2(int in, int out, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    if (!pass_on(in, out)) return false;
  return true;
}

int run_context_switch_loop(std::span<const std::string> arguments) {
  constexpr unsigned kUsual = 100;
  unsigned count = number_at(arguments, 0, kUsual);
  std::array<int, 2> there{}, back{};
  if (::pipe(there.data()) != 0 || ::pipe(back.data()) != 0) return EXIT_FAILURE;
  pid_t child = ::fork();
  if (child < 0) return EXIT_FAILURE;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "context_switch2");
    ::_exit(context_switch_loop_proc2(there[0], back[1], count) ? 0 : 1);
  }
  ::prctl(PR_SET_NAME, "context_switch1");
  bool done = context_switch_loop_proc1(back[0], there[1], count);
  for (int fd : {there[0], there[1], back[0], back[1]}) ::close(fd);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return done && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

}  // namespace sonde::selftest
