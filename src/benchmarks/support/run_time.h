// RunTime: how long the threads of a benchmark ran, and what follows for their counts.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/running_stats.h"
#include "benchmarks/reporter.h"

namespace sonde {

class RunTime {
 public:
  /// Begins now.
  RunTime() : start_ns_(monotonic_ns()) {}
  void stop() { ns_ = monotonic_ns() - start_ns_; }

  [[nodiscard]] uint64_t ns() const { return ns_; }
  [[nodiscard]] uint64_t per_second(uint64_t count) const {
    return static_cast<uint64_t>(static_cast<double>(count) * 1e9 / static_cast<double>(ns_));
  }
  /// "Averaged 100 operations/sec …", the closing line of a run.
  void show_average(Reporter& report, const RunningStats& rates, bool gap) const {
    report.line("{}Averaged {:.0f} operations/sec (+- {:.2f}%), total secs = {}", gap ? "\n" : "",
                rates.mean(), rates.error_percent(), ns_ / 1'000'000'000);
  }

 private:
  uint64_t start_ns_;
  uint64_t ns_ = 0;
};

}  // namespace sonde
