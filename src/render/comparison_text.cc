// Comparisons for people: a table as text, and the same in Markdown.
#include <algorithm>
#include <array>

#include "render/color.h"
#include "render/comparison_parts.h"

namespace sonde::render {
namespace {

using view::ComparedGate;
using view::ComparedMetric;

constexpr size_t kColumns = std::size(kComparisonTitles);
constexpr std::array<bool, kColumns> kRightAligned = {false, true, true, false,
                                                      true,  true, true, false};

std::string explanation(const view::Comparison& comparison) {
  return fmt::format(
      "Medians; less is better. All intervals and verdicts hold together with {:.0f}%: of "
      "comparisons of a command with itself, at most {:.0f} in 100 would claim anything.",
      100 * comparison.confidence, 100 * (1 - comparison.confidence));
}

std::string markdown_escaped(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

/// Inline code, whatever characters it contains.
std::string markdown_code(std::string_view text) {
  std::string fence = text.find('`') == std::string_view::npos ? "`" : "``";
  std::string code = fence;
  for (char c : text) code += c == '\n' ? ' ' : c;
  return code + fence;
}

}  // namespace

void write_comparison_text(Sink& out, const view::Comparison& comparison, bool color) {
  out.print("\n A: {}\n B: {}\n {}:\n\n", comparison.a.title, comparison.b.title,
            how_it_was_measured(comparison));
  std::vector<std::vector<std::string>> rows = {
      {std::begin(kComparisonTitles), std::end(kComparisonTitles)}};
  for (const ComparedMetric& metric : comparison.metrics) rows.push_back(comparison_cells(metric));
  std::array<size_t, kColumns> widths{};
  for (const auto& cells : rows)
    for (size_t i = 0; i < kColumns; ++i)
      // Placeholders for missing counts may overflow their column.
      if (!cells[i].starts_with('<')) widths[i] = std::max(widths[i], cells[i].size());
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < kColumns; ++i) {
      if (!line.empty()) line += "  ";
      line +=
          fmt::format(fmt::runtime(kRightAligned[i] ? "{:>{}}" : "{:<{}}"), rows[r][i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    ComparedMetric::Verdict verdict =
        r == 0 ? ComparedMetric::Verdict::kNoDifference : comparison.metrics[r - 1].verdict;
    bool is_claim =
        verdict == ComparedMetric::Verdict::kBetter || verdict == ComparedMetric::Verdict::kWorse;
    Escape begin = verdict == ComparedMetric::Verdict::kWorse ? kRed : kGreen;
    if (color && is_claim)
      out.print(" {}{}{}\n", begin, line, kReset);
    else
      out.print(" {}\n", line);
  }
  out.print("\n {}\n", explanation(comparison));
  for (const std::string& note : comparison.notes) out.print(" Note: {}\n", note);
  if (!comparison.gates.empty()) out.put('\n');
  for (const ComparedGate& gate : comparison.gates)
    out.print(" gate {}: {}\n", gate.limit, outcome_words(gate.outcome));
  out.put('\n');
}

void write_comparison_markdown(Sink& out, const view::Comparison& comparison) {
  out.print("**A**: {}  \n**B**: {}  \n{}.\n\n", markdown_code(comparison.a.title),
            markdown_code(comparison.b.title), how_it_was_measured(comparison));
  std::string rule;
  for (size_t i = 0; i < kColumns; ++i) {
    out.print("| {} ", kComparisonTitles[i]);
    rule += kRightAligned[i] ? "| ---: " : "| --- ";
  }
  out.print("|\n{}|\n", rule);
  for (const ComparedMetric& metric : comparison.metrics) {
    bool is_claim = metric.verdict == ComparedMetric::Verdict::kBetter ||
                    metric.verdict == ComparedMetric::Verdict::kWorse;
    std::vector<std::string> cells = comparison_cells(metric);
    for (size_t i = 0; i < kColumns; ++i) {
      std::string cell = markdown_escaped(cells[i]);
      out.print("| {} ", is_claim && i + 1 == kColumns ? "**" + cell + "**" : cell);
    }
    out.write("|\n");
  }
  out.print("\n{}\n", explanation(comparison));
  for (const std::string& note : comparison.notes)
    out.print("\nNote: {}\n", markdown_escaped(note));
  if (!comparison.gates.empty()) out.put('\n');
  for (const ComparedGate& gate : comparison.gates)
    out.print("- gate {}: {}{}{}\n", markdown_code(gate.limit),
              gate.outcome == ComparedGate::Outcome::kExceeded ? "**" : "",
              outcome_words(gate.outcome),
              gate.outcome == ComparedGate::Outcome::kExceeded ? "**" : "");
}

}  // namespace sonde::render
