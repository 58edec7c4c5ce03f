// Branch counters: how often each event of a group occurred between one branch of a branch stack
// and the one before it (PERF_SAMPLE_BRANCH_COUNTERS, Linux 6.8). A word per branch has them all, a
// few bits each; the processor says how many bits (the capability "branch_counter_width").
//
//   BranchCounters counters(recording);
//   for (const BranchCounters::Counter& counter : counters.of(event))
//     ... counter.letter, counters.value(word, counter) ...
//
// A counter that reaches the largest number stays there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "perfdata/read/recording.h"

namespace sonde {

class BranchCounters {
 public:
  struct Counter {
    EventId event;
    uint32_t place = 0;  // among those of its group
    char letter = 'A';   // among those of the recording, from 'A' on, as perf abbreviates them
  };
  explicit BranchCounters(const Recording& recording);

  /// Those that count beside samples of an event: of its group, in order. None if the event's
  /// branches have no counters, or nobody said how wide they are.
  [[nodiscard]] std::span<const Counter> of(EventId sampled) const;
  [[nodiscard]] uint64_t value(uint64_t word, const Counter& counter) const {
    return word >> (counter.place * width_) & most();
  }
  /// The largest number: it may stand for more.
  [[nodiscard]] uint64_t most() const { return (uint64_t{1} << width_) - 1; }
  /// Which letter is which event, and what else a column of letters shows, in lines that begin with
  /// "# "; empty if there are none.
  [[nodiscard]] std::string legend() const;
  /// How often an event occurred in some code.
  struct Sum {
    uint64_t count = 0;
    uint64_t passes = 0;  // through the code, with this counter
    bool may_be_more = false;
  };
  /// What each event of `counters` did on average, rounded up: "|AA  |B+  |-   |" in letters,
  /// "A=2 ,B=1+,C=- " in numbers, which are also used where letters would be too many.
  [[nodiscard]] std::string text(std::span<const Counter> counters, std::span<const Sum> sums,
                                 bool as_numbers) const;
  /// Of all groups.
  [[nodiscard]] std::span<const Counter> all() const { return counters_; }

 private:
  const Recording& recording_;
  uint32_t width_ = 0;             // bits
  std::vector<Counter> counters_;  // by group
};

}  // namespace sonde
