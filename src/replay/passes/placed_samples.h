// The samples of tracepoints, whatever they are: sixteen bytes for each while they are sorted, from
// which the rest is read again when its turn has come.
//
//   PlacedSamples samples(scan, losses);
//   samples.run(is_over, [&](std::span<const PlacedSample> batch) { … });
#pragma once

#include <atomic>
#include <vector>

#include "replay/passes/tracepoint_scan.h"

namespace sonde {

struct PlacedSample {
  uint64_t time = 0;                  // ns
  const std::byte* record = nullptr;  // its header
};

class PlacedSamples : public TracepointScan<PlacedSample, SampleOffsets> {
 public:
  PlacedSamples(FileScan& scan, LossLedger& losses)
      : TracepointScan(scan, offsets_of(scan.events()), losses) {}

  /// Reads everything, once; samples without raw data are damaged. `is_over`, which other threads
  /// may set, ends it.
  void run(const std::atomic<bool>& is_over, const Take& take) {
    Reader reader{is_over};
    scan_with(reader, SortedBy::kOwnStep, take);
  }
  /// By event.
  [[nodiscard]] const SampleOffsets& offsets(EventId event) const {
    return all_fields()[event.index()];
  }

 private:
  static std::vector<SampleOffsets> offsets_of(const EventTable& events) {
    std::vector<SampleOffsets> all;
    for (const EventDesc& event : events.all())
      all.push_back(SampleOffsets::of(event.attr.sample_type));
    return all;
  }

  struct Reader {
    static constexpr bool kKeepsState = false;
    const std::atomic<bool>& over;

    static bool wants(const SampleOffsets& /*offsets*/) { return true; }
    static Decoded read(const SampleOffsets& offsets, const RecordView& record,
                        const SampleLayout& layout, PlacedSample& sample) {
      SampleHead head;
      Bytes raw;
      if (!read_sample(offsets, record, layout, head, raw)) return Decoded::kBad;
      sample.time = head.time;
      return Decoded::kItem;
    }
    static bool read_other(const OtherRecord& /*other*/, const SampleLayout& /*layout*/,
                           PlacedSample& /*sample*/) {
      return false;
    }
    [[nodiscard]] bool is_over() const { return over.load(std::memory_order_relaxed); }
  };
};

}  // namespace sonde
