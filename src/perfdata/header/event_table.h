// The events of a recording: attrs, names, ids, and which event a record belongs to.
#pragma once

#include <string>
#include <vector>

#include <tsl/robin_map.h>

#include "abi/perf_event.h"
#include "base/hashing/number_hash.h"
#include "perfdata/header/guest_ids.h"
#include "perfdata/records/sample.h"

namespace sonde {

struct EventDesc {
  abi::EventAttr attr;
  std::string name;  // from EVENT_DESC or EVENT_UPDATE, else derived from the attr (event layer)
  std::vector<uint64_t> ids;  // one per (cpu, thread) that was opened
  SampleLayout layout;
  EventId leader;           // of its group (GROUP_DESC); itself if it is in no group
  std::string group_name;   // "{cycles,instructions}" as the user gave it, else empty
  uint32_t group_size = 1;  // members; set on the leader
  std::string unit;         // EVENT_UPDATE, stat
  double scale = 1.0;
  std::vector<int> own_cpus;
};

class EventTable {
 public:
  EventId add(EventDesc desc);
  void bind_ids(EventId event, const std::vector<uint64_t>& ids);

  [[nodiscard]] size_t size() const { return events_.size(); }
  [[nodiscard]] const EventDesc& operator[](EventId event) const { return events_[event.index()]; }
  EventDesc& edit(EventId event) { return events_[event.index()]; }
  [[nodiscard]] const std::vector<EventDesc>& all() const { return events_; }
  /// Empty unless the recording holds guests' records.
  [[nodiscard]] const GuestIds& guests() const { return guests_; }
  GuestIds& edit_guests() { return guests_; }

  [[nodiscard]] EventId by_id(uint64_t id) const;  // invalid if no event has it
  /// The event of a sample, or of a non-sample record with an id block. The first event if ids are
  /// not recorded (single-event files, VER0 files); invalid if the id is unknown (loss:
  /// unknown_event_id).
  [[nodiscard]] EventId of(const RecordView& record) const {
    return events_.size() == 1 ? EventId(size_t{0}) : of_many(record);
  }

 private:
  static constexpr uint32_t kNoPlace = UINT32_MAX;
  void note_id_places(const SampleLayout& layout);
  [[nodiscard]] EventId of_many(const RecordView& record) const;

  std::vector<EventDesc> events_;
  tsl::robin_map<uint64_t, uint32_t, NumberHash> by_id_;
  GuestIds guests_;
  uint32_t id_in_sample_ = kNoPlace;  // position shared by all events
  uint32_t id_from_end_ = kNoPlace;
};

}  // namespace sonde
