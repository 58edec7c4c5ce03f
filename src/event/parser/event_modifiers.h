// The modifier letters after an event or a group: who is counted, how precisely, and how the group
// is scheduled.
#pragma once

#include <string_view>

#include "event/parser/event_list.h"

namespace sonde {

/// Whether every letter is known and none occurs twice (p: up to three times).
[[nodiscard]] bool modifiers_are_valid(std::string_view letters);

/// Applies an event's own letters. They are complete: without G or H, guests are excluded only if
/// `u` or `p` is among them.
void apply_event_modifiers(std::string_view letters, ParsedEvent& event);

/// Applies the letters of its group, in addition to the event's own. False if there are more than
/// three p in total.
[[nodiscard]] bool apply_group_modifiers(std::string_view letters, bool is_leader,
                                         ParsedEvent& event);

}  // namespace sonde
