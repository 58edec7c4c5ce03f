// DelaySchedule: when -D turns events on and off: after N ms, or during ranges of time.
//
//   -D 100          on at 100 ms
//   -D 10-20,30-40  on at 10, off at 20, on at 30, off at 40
//   -D -1           never by itself (--control does)
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "capture/recorders/record_options.h"

namespace sonde {

/// Error: kUsage if it is not a delay, or if ranges are not ascending.
Result<DelayOptions> parse_delay(std::string_view text);

class DelaySchedule {
 public:
  struct Step {
    uint64_t at_ms;
    bool on;
    bool operator==(const Step&) const = default;
  };
  static Result<DelaySchedule> create(const DelayOptions& options);

  /// Starts the clock. fd() is readable whenever a step is due.
  void start();
  [[nodiscard]] int fd() const { return timer_.get(); }
  /// The step that is due; arms the timer for the next one.
  std::optional<Step> take();
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

 private:
  void arm(uint64_t from_ms);
  std::vector<Step> steps_;
  size_t next_ = 0;
  Fd timer_;
};

}  // namespace sonde
