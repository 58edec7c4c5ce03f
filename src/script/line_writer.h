// The lines of `script`, formatted on all cores and written in order.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/sink.h"
#include "script/items.h"

namespace sonde {

enum class ShownTime : uint8_t {
  kRecorded,
  kSinceStart,     // --reltime
  kSincePrevious,  // --deltatime
};

/// What the lines of one batch need to know about earlier ones.
struct LineClock {
  ShownTime shown = ShownTime::kRecorded;
  uint64_t start = 0;     // the first non-zero time
  uint64_t previous = 0;  // of the last line
};

/// Memory for text, used again by the next lines.
struct LineBuffers {
  std::vector<std::string> texts;
  size_t lines = 64;  // that fill one
};

/// Stops early if `out` can no longer be written.
void write_lines(const Session& session, const SamplePrinter& printer,
                 std::span<const ScriptItem> items, LineClock& clock, LineBuffers& buffers,
                 Sink& out);

}  // namespace sonde
