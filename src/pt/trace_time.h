// The time stamp counter at a point of an Intel PT trace: that of the latest TSC packet, and of the
// MTC packets since then, whose clock TMA packets relate to it (SDM, volume 3, "Intel Processor
// Trace", "Timing Packets"). CYC packets are not known here. The rounding, and what becomes of the
// times around lost packets, is libipt's.
#pragma once

#include <cstdint>

#include "pt/flow_decoder.h"

namespace sonde::pt {

class TraceTime {
 public:
  TraceTime() = default;
  explicit TraceTime(const TraceSetup& setup)
      : numerator_(setup.crystal_numerator),
        denominator_(setup.crystal_denominator),
        period_(setup.mtc_period) {}

  [[nodiscard]] bool has_value() const { return has_tsc_; }
  [[nodiscard]] uint64_t value() const { return tsc_; }
  void forget() { *this = TraceTime(numerator_, denominator_, period_); }

  void set_tsc(uint64_t tsc) {
    has_tsc_ = true;
    has_tma_ = has_mtc_ = false;
    tsc_ = base_ = tsc;
    clock_ = 0;
  }
  /// False if the packet may not be here.
  [[nodiscard]] bool set_tma(uint16_t clock, uint16_t fast_clock) {
    if (!has_tsc_ || has_tma_ || has_mtc_) return false;
    has_tma_ = true;
    base_ -= fast_clock;
    // With few bits in MTC packets, this is as good as one of them.
    has_mtc_ = clock_bits() <= kTmaBits;
    clock_ = clock & ((uint32_t{1} << clock_bits()) - 1);
    return true;
  }
  [[nodiscard]] bool set_mtc(uint8_t payload) {
    if (has_tsc_ && !has_tma_) return true;
    uint32_t last = clock_, now = uint32_t{payload} << period_;
    bool is_first = !has_mtc_;
    has_mtc_ = true;
    clock_ = now;
    if (is_first) {
      if (!has_tma_) return true;
      if ((last & ~kTmaMask) != 0) return false;
      // The bits that TMA does not have are taken from here.
      uint32_t low = now & kTmaMask, high = now & ~kTmaMask;
      if (low < last) {
        high -= uint32_t{1} << kTmaBits;
        high &= uint32_t{0xff} << period_;
      }
      last |= high;
    }
    if (now < last) now += uint32_t{1} << clock_bits();
    if (now < last) return false;
    if (numerator_ == 0 || denominator_ == 0) return true;
    tsc_ = base_ = base_ + uint64_t{now - last} * numerator_ / denominator_;
    return true;
  }

  static constexpr unsigned kMtcBits = 8, kTmaBits = 16;

 private:
  static constexpr uint32_t kTmaMask = 0xffff;

  TraceTime(uint32_t numerator, uint32_t denominator, uint8_t period)
      : numerator_(numerator), denominator_(denominator), period_(period) {}
  [[nodiscard]] unsigned clock_bits() const { return period_ + kMtcBits; }

  uint32_t numerator_ = 0, denominator_ = 0;
  uint8_t period_ = 0;
  bool has_tsc_ = false, has_tma_ = false, has_mtc_ = false;
  uint32_t clock_ = 0;  // crystal clocks, the lower bits
  uint64_t tsc_ = 0, base_ = 0;
};

}  // namespace sonde::pt
