// Samples to be sorted by time, each with its place in the file: sixteen bytes, from which the rest
// is read again when its turn has come.
//
//   std::vector<SampleOffsets> places = offsets_of(scan.events());
//   PlacedSampleDecoder decoder(scan.events(), places, is_over);
//   process_records(scan, losses, decoder, SortedBy::kOwnStep,
//                   [&](std::span<const PlacedSample> batch) { … });
#pragma once

#include <atomic>
#include <vector>

#include "replay/fields/sample_offsets.h"
#include "replay/passes/record_pipeline.h"

namespace sonde {

struct PlacedSample {
  uint64_t time = 0;                  // ns
  const std::byte* record = nullptr;  // its header
};

/// For the sorter: only tells samples apart.
[[nodiscard]] inline uint64_t place_in_file(const PlacedSample& sample) {
  return reinterpret_cast<uintptr_t>(sample.record);
}

/// By event.
[[nodiscard]] inline std::vector<SampleOffsets> offsets_of(const EventTable& events) {
  std::vector<SampleOffsets> places;
  for (const EventDesc& event : events.all())
    places.push_back(SampleOffsets::of(event.attr.sample_type));
  return places;
}

/// Finds the samples of tracepoints: those without raw data are damaged. All must outlive it; other
/// threads may set `is_over` to end the search.
class PlacedSampleDecoder {
 public:
  using Item = PlacedSample;
  static constexpr bool kKeepsState = false;
  PlacedSampleDecoder(const EventTable& events, const std::vector<SampleOffsets>& places,
                      const std::atomic<bool>& is_over)
      : events_(events), places_(places), is_over_(is_over) {}

  Decoded decode(const RecordView& record, uint32_t event, PlacedSample& sample) {
    SampleHead head;
    if (!places_[event].read(record, head) ||
        places_[event].raw_data(record, events_[EventId(size_t{event})].layout).empty())
      return Decoded::kBad;
    sample = {head.time, record.raw().data()};
    return Decoded::kItem;
  }
  static bool decode_other(const OtherRecord& /*record*/, PlacedSample& /*sample*/) {
    return false;
  }
  [[nodiscard]] bool is_over() const { return is_over_.load(std::memory_order_relaxed); }

 private:
  const EventTable& events_;
  const std::vector<SampleOffsets>& places_;
  const std::atomic<bool>& is_over_;
};

}  // namespace sonde
