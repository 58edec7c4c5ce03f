// Cycles of a core whose trace does not count them (no CYC packets): what passed by the time stamp
// counter, times the core's frequency over that of the counter. Both are told by other packets, MTC
// and CBR. While nothing is traced no cycles are counted.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sonde::itrace {

class CycleEstimate {
 public:
  CycleEstimate() = default;
  /// `base_ratio`: the frequency of the time stamp counter in bus clocks; 0: nothing is estimated.
  explicit CycleEstimate(uint32_t base_ratio) : base_ratio_(base_ratio) {}

  [[nodiscard]] bool is_on() const { return base_ratio_ != 0; }
  /// In bus clocks, from now on.
  void set_ratio(uint32_t ratio, uint64_t now) {
    if (ratio == ratio_) return;
    if (is_running_) {
      advance(now);
      begin(now);
    }
    ratio_ = ratio;
  }
  /// Tracing begins; what came before is not counted.
  void begin(uint64_t now) {
    before_ = total_;
    since_ = now;
    is_running_ = true;
  }
  void pause(uint64_t now) {
    advance(now);
    is_running_ = false;
  }
  /// Since the trace began, as of `now`, a time stamp.
  uint64_t total(uint64_t now) {
    if (!is_running_) begin(now);
    advance(now);
    return total_;
  }

 private:
  void advance(uint64_t now) {
    if (!is_running_ || now <= since_) return;
    auto cycles = static_cast<unsigned __int128>(now - since_) * ratio_ / base_ratio_;
    total_ = std::max(total_, before_ + static_cast<uint64_t>(cycles));
  }

  uint32_t base_ratio_ = 0, ratio_ = 0;
  uint64_t total_ = 0, before_ = 0, since_ = 0;
  bool is_running_ = false;
};

}  // namespace sonde::itrace
