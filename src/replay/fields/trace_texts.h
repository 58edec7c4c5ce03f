// The text of tracepoint samples: the print formats of a recording's tracepoints, compiled once per
// event.
//
// Formats come from the recording's tracing data. An event without a format prints nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "event/print_fmt/print_fmt.h"
#include "replay/fields/trace_formats.h"
#include "replay/session.h"

namespace sonde {

/// Compiles the print format of a recorded event. If this machine runs the recorded kernel, its BTF
/// explains names in it.
PrintProgram compile_print_fmt(const TracepointFormat& format, const PrintTarget& target,
                               const Features& features);

class TraceTexts {
 public:
  explicit TraceTexts(const Session& session);
  /// Without a session: addresses are not symbolized.
  TraceTexts(const EventTable& events, const Features& features, ByteOrder order);

  /// Appends a sample's raw data, formatted by the print format. Thread-safe.
  void print(EventId event, Bytes raw, std::string& out) const;
  /// The event's fields; null if its format is unknown.
  [[nodiscard]] const TracepointFormat* format(EventId event) const { return formats_.of(event); }

 private:
  TraceFormats formats_;
  std::vector<std::optional<PrintProgram>> programs_;  // by event
  PrintContext context_;
};

}  // namespace sonde
