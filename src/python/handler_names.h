// What a recording's events are called in Python: the handler of a tracepoint, SYSTEM__EVENT, which
// is also the name that handlers are told. `script -g python` defines these functions and the run
// of a script looks them up, so both ask here. A name that is no identifier becomes one
// (base/foreign/code_text.h); one that is keeps its handler to itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "event/print_fmt/tracepoint_format.h"

namespace sonde::python {

/// For each format of a recording, in the order of its events; empty where there is none. Formats
/// of one name have one handler.
[[nodiscard]] std::vector<std::string> handler_names(
    const std::vector<const TracepointFormat*>& formats);
/// The handler of a counted event: "stat__cycles_u".
[[nodiscard]] std::string stat_handler_name(std::string_view event);

}  // namespace sonde::python
