// Comparisons for other programs: one JSON document with numbers as numbers.
#include "render/comparison_parts.h"
#include "render/json_text.h"

namespace sonde::render {
namespace {

using view::ComparedGate;
using view::ComparedMetric;

template <typename List, typename Text>
std::string json_list(const List& list, const Text& text) {
  std::string all;
  for (const auto& each : list) all += (all.empty() ? "" : ",") + text(each);
  return "[" + all + "]";
}

std::string side_text(const view::ComparedSide& side) {
  return fmt::format("{{\"title\":{},\"command\":{},\"runs\":{}}}", json_string(side.title),
                     json_list(side.command, json_string), side.runs);
}

std::string compared_metric_json(const ComparedMetric& metric) {
  std::string head = fmt::format("{{\"metric\":{},\"unit\":{}", json_string(metric.name),
                                 json_string(metric.unit));
  if (metric.status != ComparedMetric::Status::kCompared)
    return fmt::format(
        "{},\"status\":\"{}\"}}", head,
        metric.status == ComparedMetric::Status::kNotCounted ? "not counted" : "not supported");
  const view::Change& change = metric.change;
  return fmt::format(
      "{},\"status\":\"compared\",\"median_a\":{},\"median_b\":{},\"{}\":{},\"interval\":[{},{}],"
      "\"noise\":{},\"p\":{},\"verdict\":\"{}\",\"runs_a\":{},\"runs_b\":{}}}",
      head, json_number(metric.median_a), json_number(metric.median_b),
      change.is_ratio ? "ratio" : "difference", json_number(change.value), json_number(change.low),
      json_number(change.high), json_number(change.noise), json_number(metric.p_value),
      verdict_words(metric.verdict), json_list(metric.a, json_number),
      json_list(metric.b, json_number));
}

std::string gate_text(const ComparedGate& gate) {
  constexpr std::string_view kNames[] = {"passed", "exceeded", "not shown", "too few runs"};
  return fmt::format("{{\"limit\":{},\"metric\":{},\"outcome\":\"{}\"}}", json_string(gate.limit),
                     json_string(gate.metric), kNames[static_cast<size_t>(gate.outcome)]);
}

}  // namespace

void write_comparison_json(Sink& out, const view::Comparison& comparison) {
  out.print("{{\"version\":1,\"a\":{},\"b\":{},\"in_turn\":{},\"confidence\":{},",
            side_text(comparison.a), side_text(comparison.b), comparison.in_turn,
            json_number(comparison.confidence));
  out.print("\"metrics\":{},\"gates\":{},\"notes\":{}}}\n",
            json_list(comparison.metrics, compared_metric_json),
            json_list(comparison.gates, gate_text), json_list(comparison.notes, json_string));
}

}  // namespace sonde::render
