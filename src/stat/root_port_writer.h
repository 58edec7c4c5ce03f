// The counts of root_port_events as a table of root ports, in perf's format.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "render/counting.h"
#include "stat/root_ports.h"

namespace sonde {

/// Pages must be grouped by die. `separator`: CSV. `inner` writes headings and times.
std::unique_ptr<render::CountWriter> make_root_port_writer(
    std::vector<RootPort> ports, std::optional<std::string> separator,
    std::unique_ptr<render::CountWriter> inner, Sink& out);

}  // namespace sonde
