// BlockedSignals: threads that are started while it lives take no signals.
//
// A signal for the process goes to any thread that does not block it. What waits for signals in one
// thread (record, stat) therefore needs all others to block them, also the workers that the
// library of parallel algorithms keeps for later. So this surrounds work that may start them:
//
//   BlockedSignals blocked;
//   plans = plan_probes(…);
//
// Signals that arrive meanwhile are delivered at its end.
#pragma once

#include <pthread.h>

#include <csignal>

namespace sonde {

class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    // A fault has to be reported where it is.
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) ::sigdelset(&all, fault);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace sonde
