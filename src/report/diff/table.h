// The table of one event of a comparison.
#pragma once

#include <memory>
#include <vector>

#include "report/diff/input.h"
#include "view/table.h"

namespace sonde::diff {

/// Rows of the baseline's event `event`, and of the same event of the other recordings: perf's
/// columns and, on request, the significance of the differences.
Result<view::Table> make_table(const std::vector<std::unique_ptr<DiffInput>>& inputs,
                               const report::EventReport& event, const DiffOptions& options);

}  // namespace sonde::diff
