// What makes two recordings hard to compare.
#pragma once

#include <string>
#include <vector>

#include "report/diff/input.h"

namespace sonde::diff {

/// A sentence for each way in which `other` differs from the baseline so that its numbers mean
/// something else: events, rates, what is counted, length, machine, losses.
[[nodiscard]] std::vector<std::string> comparison_notes(const DiffInput& baseline,
                                                        const DiffInput& other);

}  // namespace sonde::diff
