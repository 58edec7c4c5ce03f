// What the comparison writers share: cells and wording.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/sink.h"
#include "view/comparison.h"

namespace sonde::render {

/// "no difference seen"
[[nodiscard]] std::string_view verdict_words(view::ComparedMetric::Verdict verdict);
[[nodiscard]] std::string_view outcome_words(view::ComparedGate::Outcome outcome);

/// A metric's line, cell by cell: metric, A, B, unit, B to A, interval, noise, verdict.
inline constexpr std::string_view kComparisonTitles[] = {"metric", "A",        "B",     "unit",
                                                         "B to A", "interval", "noise", "verdict"};
[[nodiscard]] std::vector<std::string> comparison_cells(const view::ComparedMetric& metric);

/// "20 runs of each in turn, after a warm-up. …"
[[nodiscard]] std::string how_it_was_measured(const view::Comparison& comparison);

void write_comparison_text(Sink& out, const view::Comparison& comparison, bool color);
void write_comparison_json(Sink& out, const view::Comparison& comparison);
void write_comparison_markdown(Sink& out, const view::Comparison& comparison);

}  // namespace sonde::render
