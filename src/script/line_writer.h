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

/// Stops early where `out` cannot be written any more.
void write_lines(const Session& session, const SamplePrinter& printer,
                 std::span<const ScriptItem> items, ShownTime shown, Sink& out);

}  // namespace sonde
