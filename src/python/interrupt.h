// Ctrl-C while a script runs: the first one ends the events, so that the script still shows its
// summary; the second one ends Sonde.
#pragma once

#include <csignal>

namespace sonde::python {

class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();
  [[nodiscard]] static bool has_come();

 private:
  struct sigaction before_{};
};

}  // namespace sonde::python
