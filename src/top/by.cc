#include "top/by.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "event/print_fmt/tracefs.h"
#include "event/print_fmt/tracepoint_format.h"
#include "profile/keys/sort_key.h"

namespace sonde::top {
namespace {

struct By {
  std::string event;
  std::optional<std::string> field;
};

/// The part behind the last colon is a field unless it is part of the event: its name, as in
/// sched:sched_switch, or modifiers.
By split_by(std::string_view text, Tracefs& tracefs) {
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {std::string(text), {}};
  std::string_view head = text.substr(0, colon), tail = text.substr(colon + 1);
  bool names_a_tracepoint = tracefs.has(head, tail) || head.find(':') == std::string_view::npos;
  bool is_key = find_sort_key(tail) != nullptr;
  bool is_modifier = tail.find_first_not_of("ukhIGHpPSDWeR") == std::string_view::npos;
  if ((names_a_tracepoint && !is_key) || is_modifier) return {std::string(text), {}};
  return {std::string(head), std::string(tail)};
}

/// Checks that the event has the field, and returns the sort key for it.
Result<std::string> key_of(const ParsedEvent& event, const std::string& field, Tracefs& tracefs) {
  std::vector<std::string> names;
  if (!event.tracepoint.name.empty()) {
    std::string text = TRY(tracefs.format(event.tracepoint));
    TracepointFormat format = TRY(TracepointFormat::parse(text, event.tracepoint.system));
    for (const TracepointField& one : format.all_fields())
      if (one.name == field) return fmt::format("{}.{}", event.name, field);
    for (const TracepointField& one : format.fields()) names.push_back(one.name);
  }
  if (find_sort_key(field) != nullptr) return field;
  return fail(ErrorCode::kUsage, "--by: {} has no field '{}'; it has {}", event.name, field,
              names.empty() ? "none of its own, but sort keys work: comm, pid, cpu, dso, sym"
                            : join(names, " "));
}

}  // namespace

Result<> add_by(TopOptions& options, std::string_view text, EventSelection::Chosen& chosen,
                Env& env) {
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  By by = split_by(text, tracefs);
  if (options.by_event.empty()) {
    if (chosen.events.size() > 0)
      return fail(ErrorCode::kUsage, "--by {}: it names the event itself: omit -e", text);
    TRY(options.selection.parse(by.event, chosen.events, env));
    options.by_event = by.event;
    options.report.show_samples = true;
    options.show_idle = true;  // also what happens in idle functions
    SamplingOptions& sampling = options.record.sampling;
    if (!sampling.period && !sampling.freq && !sampling.freq_max) sampling.period = 1;
    if (options.report.sort == TopOptions().report.sort) options.report.sort.reset();
  } else if (by.event != options.by_event) {
    return fail(ErrorCode::kUsage, "--by {}: rows are by values of one event, here {}", text,
                options.by_event);
  }
  if (chosen.events.size() == 0) return fail(ErrorCode::kBadEvent, "--by {}: no such event", text);
  for (const ParsedEvent& event : chosen.events.events()) {
    std::string key = by.field ? TRY(key_of(event, *by.field, tracefs)) : "comm";
    std::string before = options.report.sort.value_or("");
    bool is_known = std::ranges::count(split(before, ','), std::string_view(key)) > 0;
    if (!is_known) options.report.sort = before.empty() ? key : before + "," + key;
  }
  return {};
}

}  // namespace sonde::top
