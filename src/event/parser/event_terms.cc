#include "event/parser/event_terms.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "event/parser/event_branch.h"
#include "event/pmu/pmu.h"

namespace sonde {
namespace {

enum class Takes : uint8_t {
  kNumber,  // 1 if no value is given, as in PMU terms
  kSwitch,  // 0 or 1; on if no value is given
  kText,
};

struct Value {
  uint64_t number = 0;
  std::string_view text;
};

/// Stores the value in the event; returns what is wrong with it, or nothing.
using Apply = std::string_view (*)(const Value& value, ParsedEvent& event);

struct TermRule {
  std::string_view name;
  Takes takes;
  bool counting;  // makes sense without sampling
  Apply apply;
};

constexpr uint64_t kMax32 = std::numeric_limits<uint32_t>::max();
constexpr std::string_view kTooBig = "too big";

std::string_view apply_call_graph(const Value& value, ParsedEvent& event) {
  struct Mode {
    std::string_view word;
    CallGraphTerm mode;
  };
  constexpr Mode kModes[] = {{"fp", CallGraphTerm::kFramePointer},
                             {"dwarf", CallGraphTerm::kDwarf},
                             {"lbr", CallGraphTerm::kLbr},
                             {"no", CallGraphTerm::kNone}};
  for (const Mode& mode : kModes) {
    if (value.text != mode.word) continue;
    event.terms.call_graph = mode.mode;
    return {};
  }
  return "unknown call-graph: fp, dwarf, lbr or no";
}

std::string_view apply_branch_type(const Value& value, ParsedEvent& event) {
  Result<uint64_t> bits = parse_branch_types(value.text);
  if (!bits) return "invalid branch sample type";
  event.terms.branch_type = *bits;
  return {};
}

std::string_view apply_aux_action(const Value& value, ParsedEvent& event) {
  constexpr std::string_view kActions[] = {"start-paused", "pause", "resume"};
  auto* found = std::ranges::find(kActions, value.text);
  if (found == std::end(kActions)) return "expected start-paused, pause or resume";
  event.terms.aux_action |= 1u << (found - std::begin(kActions));
  return {};
}

std::string_view apply_cpus(const Value& value, ParsedEvent& event) {
  std::optional<std::vector<int>> cpus = parse_cpu_list(value.text);
  if (!cpus || cpus->empty()) return "expected CPU numbers";
  event.terms.cpus = std::move(*cpus);
  return {};
}

std::string_view apply_name(const Value& value, ParsedEvent& event) {
  event.name = value.text;
  event.name_given = true;
  return {};
}

constexpr TermRule kRules[] = {
    {"config", Takes::kNumber, true,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.attr.config = value.number;
       return {};
     }},
    {"config1", Takes::kNumber, true,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.attr.bp_addr = value.number;
       return {};
     }},
    {"config2", Takes::kNumber, true,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.attr.bp_len = value.number;
       return {};
     }},
    {"config3", Takes::kNumber, true,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.attr.config3 = value.number;
       return {};
     }},
    {"name", Takes::kText, true, apply_name},
    {"period", Takes::kNumber, true,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.terms.period = value.number;
       return {};
     }},
    {"freq", Takes::kNumber, false,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.terms.freq = value.number;
       return {};
     }},
    {"branch_type", Takes::kText, false, apply_branch_type},
    {"time", Takes::kSwitch, false,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.terms.time = value.number != 0;
       return {};
     }},
    {"call-graph", Takes::kText, false, apply_call_graph},
    {"stack-size", Takes::kNumber, false,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.terms.stack_size = value.number;
       return {};
     }},
    {"no-inherit", Takes::kSwitch, false,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.terms.inherit = value.number == 0;
       return {};
     }},
    {"inherit", Takes::kSwitch, false,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.terms.inherit = value.number != 0;
       return {};
     }},
    {"max-stack", Takes::kNumber, false,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       if (value.number > std::numeric_limits<uint16_t>::max()) return kTooBig;
       event.terms.max_stack = static_cast<uint32_t>(value.number);
       return {};
     }},
    {"nr", Takes::kNumber, false,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       if (value.number > kMax32) return kTooBig;
       event.terms.max_events = static_cast<uint32_t>(value.number);
       return {};
     }},
    {"no-overwrite", Takes::kSwitch, false,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.terms.overwrite = value.number == 0;
       return {};
     }},
    {"overwrite", Takes::kSwitch, false,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.terms.overwrite = value.number != 0;
       return {};
     }},
    {"driver-config", Takes::kText, false,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.terms.driver_config = std::string(value.text);
       return {};
     }},
    {"percore", Takes::kSwitch, true,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.terms.percore = value.number != 0;
       return {};
     }},
    {"aux-output", Takes::kSwitch, false,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       event.terms.aux_output = value.number != 0;
       return {};
     }},
    {"aux-action", Takes::kText, false, apply_aux_action},
    {"aux-sample-size", Takes::kNumber, false,
     [](const Value& value, ParsedEvent& event) -> std::string_view {
       if (value.number > kMax32) return kTooBig;
       event.terms.aux_sample_size = value.number;
       return {};
     }},
    {"cpu", Takes::kText, true, apply_cpus},
    // A tag by which perf's metrics identify their events; it does not affect the event.
    {"metric-id", Takes::kText, true,
     [](const Value&, ParsedEvent&) -> std::string_view { return {}; }},
};

const TermRule* find_rule(std::string_view name) {
  auto* found = std::ranges::find(kRules, name, &TermRule::name);
  return found == std::end(kRules) ? nullptr : found;
}

/// Converts the value as the rule requires; returns what is wrong with it, or nothing.
std::string_view read_value(const TermRule& rule, const TermSyntax& term, Value& value) {
  if (rule.takes == Takes::kText) {
    if (!term.value) return "expected string value";
    value.text = *term.value;
    return {};
  }
  if (!term.value) {
    value.number = 1;
    return {};
  }
  std::optional<uint64_t> number = parse_number(*term.value);
  if (!number) return "expected numeric value";
  if (rule.takes == Takes::kSwitch && *number > 1) return "expected 0 or 1";
  value.number = *number;
  return {};
}

}  // namespace

Result<bool> apply_common_term(const TermSyntax& term, std::string_view place, bool counting,
                               const EventErrors& errors, ParsedEvent& event) {
  if (term.name.starts_with('@') && !counting) {
    event.terms.driver_config = std::string(term.name.substr(1));
    if (term.value) *event.terms.driver_config += fmt::format("={}", *term.value);
    return true;
  }
  const TermRule* rule = find_rule(term.name);
  if (rule == nullptr) return false;
  Value value;
  std::string_view wrong = read_value(*rule, term, value);
  if (wrong.empty()) {
    if (counting && !rule->counting)
      return errors.fail(place,
                         fmt::format("'{}' is not usable in '{} stat'", rule->name, errors.tool()));
    wrong = rule->apply(value, event);
  }
  if (!wrong.empty()) return errors.fail(term.value ? *term.value : place, wrong);
  return true;
}

bool common_term_exists(std::string_view name) {
  return name.starts_with('@') || find_rule(name) != nullptr;
}

std::string common_term_names(bool counting) {
  std::vector<std::string> names;
  for (const TermRule& rule : kRules)
    if (rule.counting || !counting) names.emplace_back(rule.name);
  return join(names, ",");
}

}  // namespace sonde
