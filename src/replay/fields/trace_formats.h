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
    const std::optional<TracepointFormat>& format = formats_[event.index()];
    return format ? &*format : nullptr;
  }
  /// Null if the recording has none.
  [[nodiscard]] const TracingData* data() const { return data_ ? &*data_ : nullptr; }

 private:
  std::optional<TracingData> data_;
  std::vector<std::optional<TracepointFormat>> formats_;
};

}  // namespace sonde
