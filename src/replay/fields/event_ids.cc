#include "replay/fields/event_ids.h"

#include <algorithm>

namespace sonde {

EventIds::EventIds(const EventTable& events) : events_(events) {
  std::optional<uint32_t> place;
  uint64_t highest = 0;
  for (const EventDesc& event : events.all()) {
    auto own = event.layout.id_in_sample();
    if (!own || (place && *place != *own)) return;
    place = own;
    for (uint64_t id : event.ids) {
      lowest_ = std::min(lowest_, id);
      highest = std::max(highest, id);
    }
  }
  constexpr uint64_t kMaxIdRange = 1 << 20;
  if (!place || lowest_ > highest || highest - lowest_ >= kMaxIdRange) return;
  place_ = *place;
  by_distance_.assign(highest - lowest_ + 1, kUnknown);
  for (size_t i = 0; i < events.size(); ++i)
    for (uint64_t id : events[EventId(i)].ids)
      by_distance_[id - lowest_] = static_cast<uint16_t>(i);
}

}  // namespace sonde
