// Terms that every kind of event accepts: config words, name, and per-event settings that otherwise
// come from the command line (period=, call-graph=, cpu= …).
#pragma once

#include <string>
#include <string_view>

#include "event/parser/event_error.h"
#include "event/parser/event_list.h"
#include "event/parser/event_syntax.h"

namespace sonde {

/// Whether `term` is one of them and was applied to `event`. `place` is where the user wrote it (a
/// term may come from an alias in sysfs). `counting` refuses those that only apply to sampling.
Result<bool> apply_common_term(const TermSyntax& term, std::string_view place, bool counting,
                               const EventErrors& errors, ParsedEvent& event);

/// Whether `apply_common_term` knows that name.
[[nodiscard]] bool common_term_exists(std::string_view name);

/// "config,config1,…": the terms that `apply_common_term` knows.
[[nodiscard]] std::string common_term_names(bool counting);

}  // namespace sonde
