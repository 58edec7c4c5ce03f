#include "report/options.h"

#include <algorithm>
#include <cstdlib>

#include "base/option_values.h"
#include "base/text.h"
#include "perfdata/records/off_cpu_sample.h"
#include "replay/fields/parallelism.h"

namespace sonde::report {
namespace {

bool begins(std::string_view word, std::string_view name) {
  return !word.empty() && name.starts_with(word);
}

bool take_style(std::string_view word, CallGraphOptions& choice) {
  using enum view::GraphStyle;
  if (begins(word, "graph"))
    choice.style = kAbsolute;
  else if (begins(word, "flat"))
    choice.style = kFlat;
  else if (begins(word, "fractal"))
    choice.style = kRelative;
  else if (begins(word, "folded"))
    choice.style = kFolded;
  else
    return false;
  return true;
}

bool take_order(std::string_view word, CallGraphOptions& choice) {
  if (!begins(word, "caller") && !begins(word, "callee")) return false;
  choice.caller_order = begins(word, "caller");
  choice.order_given = true;
  return true;
}

bool take_key(std::string_view word, CallGraphOptions& choice) {
  if (begins(word, "function"))
    choice.key = CallKey::kFunction;
  else if (begins(word, "address"))
    choice.key = CallKey::kAddress;
  else if (begins(word, "srcline"))
    choice.key = CallKey::kSrcline;
  else if (begins(word, "branch"))
    choice.branch_history = true;
  else
    return false;
  return true;
}

bool take_value(std::string_view word, CallGraphOptions& choice) {
  if (begins(word, "percent"))
    choice.value = view::GraphValue::kPercent;
  else if (begins(word, "period"))
    choice.value = view::GraphValue::kPeriod;
  else if (begins(word, "count"))
    choice.value = view::GraphValue::kCount;
  else
    return false;
  return true;
}

}  // namespace

Result<> parse_call_graph(std::string_view text, CallGraphOptions& choice) {
  choice.given = true;
  bool percent_seen = false;
  for (std::string_view word : split(text, ',')) {
    if (word.empty()) continue;
    if (begins(word, "none")) {
      choice.style = view::GraphStyle::kNone;
      return {};
    }
    if (take_style(word, choice) || take_order(word, choice) || take_key(word, choice) ||
        take_value(word, choice))
      continue;
    std::string number(word);
    char* end = nullptr;
    if (!percent_seen)
      choice.min_percent = std::strtod(number.c_str(), &end);
    else
      choice.print_limit = std::strtoul(number.c_str(), &end, 0);
    if (end == number.c_str())
      return fail(ErrorCode::kUsage,
                  "expects a call graph mode, threshold, limit, order, key or value, not '{}'",
                  word);
    percent_seen = true;
  }
  return {};
}

namespace {

bool have_branches(const EventTable& events) {
  return std::ranges::any_of(events.all(), [](const EventDesc& event) {
    return event.attr.samples(abi::kSampleBranchStack);
  });
}

}  // namespace

bool joins_samples(const EventTable& events) {
  auto is_waker = [](const EventDesc& event) { return is_waker_event(event.attr, event.name); };
  return have_branches(events) || records_switches(events) ||
         std::ranges::any_of(events.all(), is_waker);
}

void choose_branch_history(const ReportOptions& o, const EventTable& events,
                           SessionOptions& session) {
  if (!o.branch_history && !o.call_graph.branch_history) return;
  if (!have_branches(events)) return;
  bool rows_are_samples = o.branch_history || !o.memory_mode;
  if (!session.chains) session.chains.emplace();
  session.chains->branch_history = {
      .caller_order = o.call_graph.caller_order || o.inverted ||
                      (o.children && rows_are_samples && !o.call_graph.order_given),
      .max_stack = o.max_stack};
  session.inlines = Inlines::kNone;
}

Result<> set_percent_limit(ReportOptions& o, std::string_view word) {
  o.percent_limit = TRY(parse_percent(word));
  o.call_graph.min_percent = o.percent_limit;
  return {};
}

}  // namespace sonde::report
