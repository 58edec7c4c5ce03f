// The heading of `top`: how many samples arrive, from where, and what was lost.
#pragma once

#include <cstdint>
#include <string>

#include "capture/recorders/capture_setup.h"
#include "replay/session.h"

namespace sonde::top {

/// For one refresh interval.
struct TopFigures {
  double seconds = 0;
  uint64_t samples = 0, kernel = 0, exact = 0;
  uint64_t idle = 0;                   // samples of functions in which CPUs wait for work
  uint64_t lost = 0, lost_before = 0;  // records that the kernel had no room for
  std::string events;                  // "[4000Hz cpu-clock]"; empty if there are several
  std::string target;                  // " (all, 2 CPUs)"

  [[nodiscard]] double rate() const {
    return seconds > 0 ? static_cast<double>(samples) / seconds : 0;
  }
  [[nodiscard]] double kernel_percent() const { return share(kernel); }
  [[nodiscard]] double exact_percent() const { return share(exact); }
  [[nodiscard]] double idle_percent() const { return share(idle); }

 private:
  [[nodiscard]] double share(uint64_t part) const {
    return samples == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(samples);
  }
};

/// perf's first line.
[[nodiscard]] std::string heading(const TopFigures& figures);
/// Counts what `session` currently shows.
void count_interval(const Session& session, TopFigures& figures);
[[nodiscard]] std::string event_text(const EventTable& events);
[[nodiscard]] std::string target_text(const TargetOptions& target, size_t cpus);

}  // namespace sonde::top
