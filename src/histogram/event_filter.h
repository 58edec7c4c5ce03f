// EventFilter: a filter of an event's fields in the kernel's grammar (kernel documentation, "Event
// Tracing", "Filter expressions"), as comparisons that lead to each other:
//
//   (ret > 0 && comm != "dd") || ret == -11
//
//   0: ret > 0        true: 1        false: 2
//   1: comm == "dd"   true: 2        false: passes   (and so on)
//
// A BPF program evaluates it for live events, and we for those of recordings. The kernel's own
// filters cannot be used: they apply behind the programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bpf/programs/histogram.h"

namespace sonde {

struct FilterTest {
  std::string field;
  histogram_operation operation = HISTOGRAM_EQUAL;
  bool is_text = false;  // the operand
  std::string text = {};
  uint64_t number = 0;                // of a negative operand: two's complement
  uint8_t if_true = 0, if_false = 0;  // a later test, HISTOGRAM_PASSES or HISTOGRAM_FAILS
};

/// Errors: kUsage, with what is wrong and where; text that is compared with `~` (a glob), and more
/// than HISTOGRAM_TESTS comparisons.
[[nodiscard]] Result<std::vector<FilterTest>> parse_event_filter(std::string_view text);

/// Of numbers; `is_signed`: both.
[[nodiscard]] bool compare_numbers(uint64_t left, histogram_operation operation, uint64_t right,
                                   bool is_signed);

/// Evaluates a filter; `holds` says whether a test does.
template <typename Holds>
[[nodiscard]] bool passes_tests(const std::vector<FilterTest>& tests, Holds&& holds) {
  if (tests.empty()) return true;
  uint8_t next = 0;
  while (next < tests.size())
    next = holds(tests[next]) ? tests[next].if_true : tests[next].if_false;
  return next == HISTOGRAM_PASSES;
}

}  // namespace sonde
