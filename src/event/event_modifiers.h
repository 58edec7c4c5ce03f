// The letters behind an event or a group: who is counted, how precisely, and how the group is
// scheduled.
#pragma once

#include <string_view>

#include "event/event_list.h"

namespace sonde {

/// Whether every letter is known and none stands twice (p: three times).
[[nodiscard]] bool modifiers_are_valid(std::string_view letters);

/// The letters of one event. They say everything: without G or H, guests are left out only where
/// `u` or `p` is among them.
void apply_event_modifiers(std::string_view letters, ParsedEvent& event);

/// The letters of its group: they add to what the event says for itself. False where more than
/// three p come together.
[[nodiscard]] bool apply_group_modifiers(std::string_view letters, bool is_leader,
                                         ParsedEvent& event);

}  // namespace sonde
