// From the runs of two sides to what is shown of them: common metrics, verdicts, gates.
#pragma once

#include <span>

#include "analysis/comparison/gate.h"
#include "analysis/comparison/run_comparison.h"
#include "analysis/counts/measured_runs.h"
#include "base/error.h"
#include "view/comparison.h"

namespace sonde {

/// The caller sets the sides' titles and commands. Metrics that only one side has become a note.
/// Errors: the sides have no metric in common; a gate names one that was not measured.
Result<view::Comparison> compare_measured(const MeasuredRuns& a, const MeasuredRuns& b,
                                          RunPlan plan, std::span<const Gate> gates);

}  // namespace sonde
