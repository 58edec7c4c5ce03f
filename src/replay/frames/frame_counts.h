// The number of samples of each event on each frame.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "replay/frames/frame_table.h"
#include "replay/sample_columns.h"

namespace sonde {

class FrameCounts {
 public:
  explicit FrameCounts(size_t events) : events_(events) {}

  struct Count {
    uint64_t samples = 0, period = 0;
  };
  void add(FrameId frame, uint32_t event, Count count) {
    size_t at = frame.index() * events_ + event;
    if (at >= counts_.size()) counts_.resize(std::max(at + 1, 2 * counts_.size()));
    counts_[at].samples += count.samples;
    counts_[at].period += count.period;
  }
  void add(const FrameCounts& other, std::span<const FrameId> frame_of) {
    other.for_each([&](FrameId frame, uint32_t event, const Count& count) {
      add(frame_of[frame.index()], event, count);
    });
  }
  /// Visits the non-zero counts, by frame.
  template <typename Body>
  void for_each(const Body& body) const {
    for (size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i].samples > 0)
        body(FrameId(i / events_), static_cast<uint32_t>(i % events_), counts_[i]);
  }
  static void add_row(SampleColumns& columns, FrameId frame, uint32_t event, const Count& count) {
    columns.event.push_back(event);
    columns.period.push_back(count.period);
    columns.leaf.push_back(frame);
    columns.count.push_back(count.samples);
  }
  void move_to(SampleColumns& columns) && {
    for_each([&](FrameId frame, uint32_t event, const Count& count) {
      add_row(columns, frame, event, count);
    });
    counts_.clear();
  }

 private:
  size_t events_;
  std::vector<Count> counts_;  // by frame and event
};

}  // namespace sonde
