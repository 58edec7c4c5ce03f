// Kernel probes as the kernel's boot configuration defines them, to trace its start (kernel
// documentation, "Boot-time tracing"):
//
//   ftrace.event.kprobes.tcp_sendmsg.probes = 'tcp_sendmsg+0 size=%dx:x64'
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "probe/events/probe_names.h"

namespace sonde {

/// A line for each event; several places of one are a list. kUnsupported for probes of programs:
/// there are none at boot.
[[nodiscard]] Result<std::string> bootconfig_text(const std::vector<NamedProbe>& probes);

}  // namespace sonde
