// When a sample of an instruction is due, if samples are some time apart.
//
// Between two packets with times, every instruction is taken to last one tick, so that programs
// that rarely cause such packets are sampled, too. The period is the power of two below the one
// that was asked for: a sample is due whenever a multiple of it passes. Both are perf's rules.
#pragma once

#include <bit>
#include <cstdint>

namespace sonde::itrace {

class PeriodClock {
 public:
  /// In ticks of the time stamp counter.
  explicit PeriodClock(uint64_t ticks) : ticks_(ticks == 0 ? 1 : std::bit_floor(ticks)) {}

  /// For every instruction, with the time of the latest packet: whether it ends a period.
  bool passes(uint64_t now) {
    if (now != now_) since_now_ = 0;
    now_ = now;
    uint64_t time = now + ++since_now_;
    uint64_t period = time & ~(ticks_ - 1);
    if (!runs_) {
      runs_ = true;
      if (period > period_) period_ = period;
      return false;
    }
    if (period <= period_) return false;
    period_ = period;
    return true;
  }
  /// For the next instructions, all at the same time: false if one of them may end a period; else
  /// they have passed.
  bool skips(uint64_t now, uint64_t instructions) {
    uint64_t since = now != now_ ? 0 : since_now_;
    if (instructions == 0) return true;
    if (!runs_ || ((now + since + instructions) & ~(ticks_ - 1)) > period_) return false;
    now_ = now;
    since_now_ = since + instructions;
    return true;
  }
  /// How many instructions `skips` accepts now.
  [[nodiscard]] uint64_t skippable(uint64_t now) const {
    uint64_t passed = now + (now != now_ ? 0 : since_now_), end = period_ + ticks_ - 1;
    return runs_ && passed < end ? end - passed : 0;
  }
  /// Tracing stops: what passes until it goes on does not count.
  void pause() { runs_ = false; }

 private:
  uint64_t ticks_;
  uint64_t now_ = 0, since_now_ = 0;
  uint64_t period_ = 0;  // the latest multiple that passed
  bool runs_ = false;
};

}  // namespace sonde::itrace
