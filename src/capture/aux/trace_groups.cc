#include "capture/aux/trace_groups.h"

#include <algorithm>

#include "abi/perf_event.h"
#include "base/text.h"

namespace sonde {
namespace {

constexpr uint32_t kDefaultSample = 4096;
/// A record is shorter than 64 KiB, and has other fields, too (perf-intel-pt(1)).
constexpr uint64_t kMostSample = 60 << 10;

Result<> check_sample_size(uint64_t size) {
  if (size <= kMostSample) return {};
  return fail(ErrorCode::kFailed, "AUX area sample size {} too big, max. {}", size, kMostSample);
}

/// Needs the tracer as its leader. perf's aux-action=start-paused is of the tracer itself.
bool acts_on_trace(const EventTerms& terms) {
  constexpr uint32_t kPause = 2, kResume = 4;
  return terms.aux_output || (terms.aux_action & (kPause | kResume)) != 0 ||
         terms.aux_sample_size.value_or(0) != 0;
}

}  // namespace

Result<uint32_t> parse_aux_sample_size(std::string_view text) {
  if (text.empty()) return kDefaultSample;
  std::optional<uint64_t> size = parse_number(text);
  if (!size) return fail(ErrorCode::kFailed, "Bad AUX area sampling option: '{}'", text);
  TRY(check_sample_size(*size));
  return *size == 0 ? kDefaultSample : static_cast<uint32_t>(*size);
}

Result<> complete_trace_group(size_t tracer, bool of_all, EventList& list) {
  auto leader = static_cast<uint32_t>(tracer);
  std::vector<ParsedEvent>& events = list.edit();
  const std::string& name = events[tracer].name;
  if (events[tracer].leader != leader)
    return fail(ErrorCode::kFailed,
                "{}: the AUX area is that of its group's leader: name it first in the group", name);
  if (of_all)
    for (ParsedEvent& event : events) event.leader = leader;
  size_t last = tracer;  // of the group, or of what would join it
  for (size_t i = tracer + 1; i < events.size(); ++i) {
    if (events[i].leader != leader && (events[i].leader != i || list.group_size(i) > 1)) break;
    if (events[i].leader == leader || acts_on_trace(events[i].terms)) last = i;
  }
  for (size_t i = tracer + 1; i <= last; ++i) events[i].leader = leader;
  bool reads_group = std::ranges::any_of(events, [&](const ParsedEvent& event) {
    return event.leader == leader && event.sample_read && list.group_size(tracer) > 1;
  });
  if (reads_group)
    return fail(ErrorCode::kUnsupported,
                "{}: :S has the group read with each sample of its leader, and a tracer makes none",
                name);
  return {};
}

Result<bool> set_aux_samples(size_t tracer, const AuxOptions& options, EventList& list) {
  bool any = false;
  std::vector<ParsedEvent>& events = list.edit();
  for (size_t i = 0; i < events.size(); ++i) {
    ParsedEvent& event = events[i];
    bool is_member = event.leader == tracer && i != tracer;
    uint64_t size = event.terms.aux_sample_size.value_or(is_member ? options.sample_bytes : 0);
    if (size == 0) continue;
    if (event.leader == i)
      return fail(ErrorCode::kFailed, "Cannot add AUX area sampling to a group leader ({})",
                  event.name);
    if (!is_member)
      return fail(ErrorCode::kFailed,
                  "Cannot add AUX area sampling because group leader is not an AUX area event ({})",
                  event.name);
    TRY(check_sample_size(size));
    event.attr.aux_sample_size = static_cast<uint32_t>(size);
    event.attr.sample_type |= abi::kSampleAux;
    any = true;
  }
  if (!any && options.sample_bytes != 0)
    return fail(ErrorCode::kFailed,
                "--aux-sample: give a group of events that a tracer leads: its trace goes into "
                "their samples");
  return any;
}

void move_group_to_front(size_t leader, EventList& list, std::vector<std::string>& cgroups) {
  std::vector<ParsedEvent>& events = list.edit();
  if (!cgroups.empty()) cgroups.resize(std::max(cgroups.size(), events.size()));
  std::vector<size_t> order;
  for (size_t i = 0; i < events.size(); ++i) order.push_back(i);
  std::ranges::stable_partition(order, [&](size_t i) { return events[i].leader == leader; });
  std::vector<uint32_t> place(events.size());
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<uint32_t>(i);
  std::vector<ParsedEvent> sorted;
  std::vector<std::string> names;
  for (size_t from : order) {
    sorted.push_back(std::move(events[from]));
    sorted.back().leader = place[sorted.back().leader];
    if (!cgroups.empty()) names.push_back(std::move(cgroups[from]));
  }
  events = std::move(sorted);
  cgroups = std::move(names);
}

}  // namespace sonde
