#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "selftest/workloads/workload.h"

namespace sonde::selftest {
namespace {

volatile double root = 0;

}  // namespace

extern "C" SONDE_KEPT void sqrtloop() {
  unsigned number = 1;
  while (is_over == 0) root = std::sqrt(static_cast<double>(number += 7));
}

int run_sqrtloop(std::span<const std::string> arguments) {
  pid_t child = ::fork();
  if (child < 0) return EXIT_FAILURE;
  if (child == 0) {
    begin_workload("perf-sqrtloop", arguments);
    sqrtloop();
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

}  // namespace sonde::selftest
