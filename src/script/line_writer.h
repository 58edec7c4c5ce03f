// Lines of `script`, formatted on all cores and written in order.
#pragma once

#include <span>

#include "base/sink.h"
#include "script/items.h"

namespace sonde {

enum class ShownTime : uint8_t {
  kRecorded,
  kSinceStart,     // --reltime
  kSincePrevious,  // --deltatime
};

/// What lines of one stretch must know of those before them.
struct LineClock {
  ShownTime shown = ShownTime::kRecorded;
  uint64_t start = 0;     // the first time that was not 0
  uint64_t previous = 0;  // of the last line
};

/// Stops early where `out` cannot be written any more.
void write_lines(const Session& session, const SamplePrinter& printer,
                 std::span<const ScriptItem> items, LineClock& clock, Sink& out);

}  // namespace sonde
