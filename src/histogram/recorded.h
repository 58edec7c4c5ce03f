// Histograms of a recording's events: the same sums as the programs in the kernel make of live
// ones.
#pragma once

#include "base/env.h"
#include "base/error.h"
#include "histogram/histogram_set.h"
#include "histogram/options.h"

namespace sonde {

/// Errors: the recording cannot be read; it has no such event or field.
[[nodiscard]] Result<HistogramSet> histogram_of_recording(const HistogramOptions& options,
                                                          const Env& env);

/// What is not in the histograms, of pairs: "3 begins without an end".
struct PairRemarks {
  uint64_t replaced = 0, ends_alone = 0, backward = 0, still_open = 0, unreadable = 0;
};
void add_remarks(const PairRemarks& counts, std::vector<std::string>& remarks);
/// "1 event", "2 events".
void add_remark(uint64_t count, std::string_view one, std::string_view many, std::string_view what,
                std::vector<std::string>& remarks);

}  // namespace sonde
