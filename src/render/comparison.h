// Comparisons as text, as a JSON document (docs/comparing.md describes its fields), and as a
// Markdown table for a pull request.
#pragma once

#include "base/sink.h"
#include "view/comparison.h"

namespace sonde::render {

enum class ComparisonFormat : uint8_t { kText, kJson, kMarkdown };

struct ComparisonStyle {
  ComparisonFormat format = ComparisonFormat::kText;
  bool color = false;
};

void write_comparison(Sink& out, const view::Comparison& comparison, const ComparisonStyle& style);

}  // namespace sonde::render
