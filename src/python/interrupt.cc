#include "python/interrupt.h"

#include <signal.h>

namespace sonde::python {
namespace {

// A handler can reach nothing else.
volatile std::sig_atomic_t interrupted = 0;

}  // namespace

Interrupt::Interrupt() {
  interrupted = 0;
  struct sigaction note{};
  note.sa_handler = [](int) { interrupted = 1; };
  note.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigaction(SIGINT, &note, &before_);
}

Interrupt::~Interrupt() {
  ::sigaction(SIGINT, &before_, nullptr);
}

bool Interrupt::has_come() {
  return interrupted != 0;
}

}  // namespace sonde::python
