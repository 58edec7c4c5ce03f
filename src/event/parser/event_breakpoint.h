// Breakpoints in -e: mem:ADDRESS[/LENGTH][:ACCESS][:MODIFIERS]
//
//   mem:0x404028        reads and writes of 4 bytes
//   mem:0x404028/8:w:u  writes of 8 bytes by users
//   mem:0x401106:x      execution
#pragma once

#include <string_view>

#include "event/parser/event_error.h"
#include "event/parser/event_list.h"

namespace sonde {

/// Fills type, address, length, access and modifiers of `event` from "mem:…".
Result<> parse_breakpoint(std::string_view text, const EventErrors& errors, ParsedEvent& event);

}  // namespace sonde
