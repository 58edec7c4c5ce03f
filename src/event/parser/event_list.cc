#include "event/parser/event_list.h"

#include <algorithm>
#include <iterator>

namespace sonde {

void join_filter(ParsedEvent& event, std::string_view text) {
  if (event.filter.empty())
    event.filter = text;
  else
    event.filter = fmt::format("({}) && ({})", event.filter, text);
}

size_t EventList::group_size(size_t leader) const {
  return static_cast<size_t>(std::ranges::count(events_, leader, &ParsedEvent::leader));
}

void EventList::append(std::vector<ParsedEvent> events) {
  auto first = static_cast<uint32_t>(events_.size());
  for (ParsedEvent& event : events) {
    event.leader += first;
    event.option = options_;
  }
  std::ranges::move(events, std::back_inserter(events_));
  ++options_;
}

Result<> EventList::add_filter(std::string_view text) {
  if (events_.empty())
    return fail(ErrorCode::kUsage,
                "--filter is about the tracepoint or tracer before it: put -e first");
  uint32_t last = events_.back().option;
  for (ParsedEvent& event : events_) {
    if (event.option != last) continue;
    if (event.attr.type != abi::kTypeTracepoint && !event.filters_addresses)
      return fail(
          ErrorCode::kUsage,
          "--filter: the event before it is no tracepoint, and its PMU filters no addresses");
    join_filter(event, text);
  }
  return {};
}

Result<> EventList::exclude_process(int self) {
  constexpr std::string_view kMisplaced =
      "--exclude-perf is about the tracepoint before it: put -e first";
  if (events_.empty()) return fail(ErrorCode::kUsage, "{}", kMisplaced);
  uint32_t last = events_.back().option;
  for (ParsedEvent& event : events_) {
    if (event.option != last) continue;
    if (event.attr.type != abi::kTypeTracepoint) return fail(ErrorCode::kUsage, "{}", kMisplaced);
    join_filter(event, fmt::format("common_pid != {}", self));
  }
  return {};
}

}  // namespace sonde
