// The fields of a recording's tracepoints: the formats in its tracing data, by event.
#pragma once

#include <optional>
#include <vector>

#include "event/print_fmt/tracepoint_format.h"
#include "perfdata/header/tracing_data.h"
#include "perfdata/read/recording.h"

namespace sonde {

class TraceFormats {
 public:
  explicit TraceFormats(const Recording& recording)
      : TraceFormats(recording.events(), recording.features()) {}
  TraceFormats(const EventTable& events, const Features& features);

  /// Null for events other than tracepoints, and if the format is not in the recording.
  [[nodiscard]] const TracepointFormat* of(EventId event) const {
    uint32_t number = of_event_[event.index()];
    return number == kNone ? nullptr : &formats_[number];
  }
  /// Null if the recording has none.
  [[nodiscard]] const TracingData* data() const { return data_ ? &*data_ : nullptr; }

 private:
  std::optional<TracingData> data_;
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<TracepointFormat> formats_;  // each once, however many events have it
  std::vector<uint32_t> of_event_;         // in formats_
};

}  // namespace sonde
