// Maps the events of a recording to the kinds that an analysis knows, and to the positions of the
// fields that it wants: looked up once per event, by the event's name and its tracepoint's format.
//
//   struct Places : SampleOffsets { Kind kind = Kind::kOther; IntField lock; };
//   constexpr std::array kNames{EventKind{"lock:contention_begin", Kind::kBegin}, …};
//   auto find = [](Places& places, const TracepointFormat& format) { places.lock = … };
//   std::vector<Places> all = places_by_event<Places>(events, features, kNames, find);
#pragma once

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <string_view>
#include <vector>

#include "perfdata/header/features.h"
#include "replay/fields/sample_offsets.h"
#include "replay/fields/trace_formats.h"

namespace sonde {

template <typename Kind>
struct EventKind {
  std::string_view name;  // "sched:sched_switch"
  Kind kind;
};

/// By event. Events that are not in `names`, whose format is not in the recording, or whose index
/// does not fit in 16 bits are of kind kOther; `find_fields` is not called for them.
template <typename Places, std::ranges::range Names>
std::vector<Places> places_by_event(const EventTable& events, const Features& features,
                                    const Names& names, auto&& find_fields) {
  TraceFormats formats(events, features);
  std::vector<Places> all(events.size());
  for (size_t i = 0; i < std::min<size_t>(all.size(), UINT16_MAX); ++i) {
    const EventDesc& event = events[EventId(i)];
    static_cast<SampleOffsets&>(all[i]) = SampleOffsets::of(event.attr.sample_type);
    const TracepointFormat* format = formats.of(EventId(i));
    auto known = std::ranges::find(names, event.name, [](const auto& one) { return one.name; });
    if (format == nullptr || known == std::ranges::end(names)) continue;
    all[i].kind = known->kind;
    find_fields(all[i], *format);
  }
  return all;
}

/// Whether one of the events is of that kind.
template <typename Places, typename Kind>
bool has_kind(const std::vector<Places>& all, Kind kind) {
  return std::ranges::find(all, kind, &Places::kind) != all.end();
}

}  // namespace sonde
