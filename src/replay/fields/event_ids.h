// EventIds: looks up the event of a sample by its id. Ids are assigned consecutively when events
// are opened, so a table indexed by the distance from the lowest id replaces a hash map.
#pragma once

#include <optional>
#include <vector>

#include "perfdata/header/event_table.h"

namespace sonde {

class EventIds {
 public:
  /// `events` must outlive this.
  explicit EventIds(const EventTable& events);

  /// EventId::kNone if no event has the id.
  [[nodiscard]] uint32_t of(const RecordView& record) const {
    if (!by_distance_.empty() && record.payload.size() >= place_ + sizeof(uint64_t)) {
      uint64_t distance = load<uint64_t>(record.payload.data() + place_, record.order) - lowest_;
      if (distance < by_distance_.size() && by_distance_[distance] != kUnknown)
        return by_distance_[distance];
    }
    return events_.of(record).value;
  }

 private:
  static constexpr uint16_t kUnknown = UINT16_MAX;
  const EventTable& events_;
  uint64_t lowest_ = UINT64_MAX;
  uint32_t place_ = 0;
  std::vector<uint16_t> by_distance_;
};

}  // namespace sonde
