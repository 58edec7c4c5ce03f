// The name that a probe's event has if the user gives none: from the function and the line.
//
//   malloc            "malloc"             std::vector<int>::push_back   "push_back"
//   malloc%return     "malloc__return"     main:3                        "main_L3"
#pragma once

#include <string>
#include <string_view>

#include "probe/requested_probe.h"

namespace sonde {

/// `function` is what covers the place. Always a valid name of an event: letters, digits and `_`.
[[nodiscard]] std::string probe_event_name(const RequestedProbe& request,
                                           std::string_view function);

}  // namespace sonde
