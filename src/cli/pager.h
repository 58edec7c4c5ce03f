// The user's pager for standard output: $PERF_PAGER, perfconfig's core.pager, $PAGER, less, more.
#pragma once

#include <sys/types.h>

#include "base/env.h"

namespace sonde {

/// During its lifetime, standard output goes through the pager; the destructor flushes and waits
/// for the user to quit it.
class Pager {
 public:
  explicit Pager(Env& env) : env_(env) {}
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;
  ~Pager();

  /// Starts it. If there is none to start, output goes to the terminal as before.
  void start();

 private:
  Env& env_;
  pid_t child_ = -1;
};

}  // namespace sonde
