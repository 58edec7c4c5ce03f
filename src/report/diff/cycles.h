// The cycles of basic blocks in two or more recordings (diff -c cycles).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "replay/branches/blocks.h"
#include "report/diff/input.h"
#include "view/table.h"

namespace sonde::diff {

/// A row per block that the baseline and another recording have, by function, those whose cycles
/// changed most first. Blocks are the same if their function's name and their offsets in it are.
[[nodiscard]] view::Table make_cycles_table(const std::vector<std::unique_ptr<DiffInput>>& inputs,
                                            const report::EventReport& event,
                                            const DiffOptions& options);

/// The first option given that does not apply to blocks; empty if none.
[[nodiscard]] std::string_view option_without_cycles(const DiffOptions& options);

/// Fails if a recording has no branch stacks.
Result<> check_cycles(const DiffInput& input);

struct CycleNoise {
  double percent = 0;               // standard error of the mean, of the mean
  std::vector<uint64_t> distances;  // between the first passes of both sides, pass by pass
};
[[nodiscard]] CycleNoise cycle_noise(const Block& before, const Block& after);
/// "± 41.1% ▁▁▂█"; no bars if there is one pass or no distance.
[[nodiscard]] std::string noise_text(const CycleNoise& noise);

}  // namespace sonde::diff
