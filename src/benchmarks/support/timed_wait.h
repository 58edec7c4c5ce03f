// How long a benchmark with a run time runs: until it is over, or the user has seen enough.
#pragma once

#include "base/error.h"
#include "capture/control/signal_queue.h"

namespace sonde {

/// Made before the threads, so that none of them takes the signal.
class TimedWait {
 public:
  static Result<TimedWait> create();
  /// Returns after `seconds`, or at SIGINT or SIGTERM, after which results are shown all the same.
  void wait(unsigned seconds);

 private:
  explicit TimedWait(SignalQueue signals) : signals_(std::move(signals)) {}
  SignalQueue signals_;
};

}  // namespace sonde
