#include "perfdata/header/event_table.h"

namespace sonde {

EventId EventTable::add(EventDesc desc) {
  EventId event(events_.size());
  desc.layout = SampleLayout(desc.attr);
  if (!desc.leader.valid()) desc.leader = event;
  events_.push_back(std::move(desc));
  note_id_places(events_.back().layout);
  std::vector<uint64_t> ids = std::move(events_.back().ids);
  events_.back().ids.clear();
  bind_ids(event, ids);
  return event;
}

void EventTable::note_id_places(const SampleLayout& layout) {
  if (events_.size() == 1) {
    id_in_sample_ = layout.id_in_sample().value_or(kNoPlace);
    id_from_end_ = layout.id_from_end().value_or(kNoPlace);
    return;
  }
  // Records can be told apart only if every event keeps its id in the same place.
  if (layout.id_in_sample().value_or(kNoPlace) != id_in_sample_) id_in_sample_ = kNoPlace;
  if (layout.id_from_end().value_or(kNoPlace) != id_from_end_) id_from_end_ = kNoPlace;
}

void EventTable::bind_ids(EventId event, const std::vector<uint64_t>& ids) {
  std::vector<uint64_t>& own = events_[event.index()].ids;
  own.insert(own.end(), ids.begin(), ids.end());
  for (uint64_t id : ids) by_id_.insert({id, event.value});
}

EventId EventTable::by_id(uint64_t id) const {
  auto found = by_id_.find(id);
  return found == by_id_.end() ? EventId() : EventId(found->second);
}

/// For events that keep their ids in different places: samples made of an ETM's trace have an
/// address, which its own event lacks. An id counts where the event that it names keeps it.
static EventId of_scattered(const EventTable& events, const RecordView& record) {
  // At the start, or after some of the address, the task, the time and the data address.
  constexpr uint32_t kLastPlace = 4 * sizeof(uint64_t);
  uint64_t id;
  for (uint32_t place = 0; place <= kLastPlace && record.payload.size() >= place + sizeof id;
       place += sizeof id) {
    id = load<uint64_t>(record.payload.data() + place, record.order);
    EventId found = events.by_id(id);
    if (found.valid() && events[found].layout.id_in_sample() == place) return found;
  }
  return EventId(size_t{0});
}

EventId EventTable::of_many(const RecordView& record) const {
  if (events_.empty()) return {};
  const EventId first(size_t{0});
  size_t size = record.payload.size();
  uint64_t id;
  if (record.type == abi::kRecordSample) {
    if (id_in_sample_ == kNoPlace) return of_scattered(*this, record);
    if (size < id_in_sample_ + sizeof id) return {};
    id = load<uint64_t>(record.payload.data() + id_in_sample_, record.order);
  } else {
    if (id_from_end_ == kNoPlace || record.type >= abi::kRecordUserStart) return first;
    if (size < id_from_end_) return first;
    id = load<uint64_t>(record.payload.data() + (size - id_from_end_), record.order);
  }
  // Records made by the recorder itself carry no id.
  return id == 0 ? first : by_id(id);
}

}  // namespace sonde
