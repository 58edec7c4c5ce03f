// What a mistyped event may have meant: the nearest names, as help text below the caret.
#pragma once

#include <string>
#include <string_view>

#include "event/parser/event_parser.h"

namespace sonde {

/// For a bare word: generic, cache and PMU events.
[[nodiscard]] std::string suggest_event(std::string_view word, const EventSources& sources);

/// For a tracepoint: names of the same system, or the same event of another system.
[[nodiscard]] std::string suggest_tracepoint(std::string_view system, std::string_view event,
                                             const EventSources& sources);

}  // namespace sonde
