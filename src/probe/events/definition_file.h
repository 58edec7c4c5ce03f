// The files of tracefs that probes are made and removed with, uprobe_events and kprobe_events, and
// what the kernel says when it refuses a line.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "probe/probe_definition.h"

namespace sonde {

/// "/sys/kernel/tracing/uprobe_events"
[[nodiscard]] std::string definition_file(const std::string& tracefs, bool in_kernel);

/// Writes one line. 0 or an errno.
[[nodiscard]] int append_definition(const std::string& path, std::string_view line);
/// The same in the mount namespace of a process, where the object's path is resolved; 0: our own.
[[nodiscard]] int append_definition_in(int namespace_pid, const std::string& path,
                                       std::string_view line);

/// Why the kernel did not take the line: what it says in error_log, or the meaning of
/// `error_number` for this file. One line, with a remedy where there is one.
[[nodiscard]] Error definition_refused(const std::string& tracefs, const ProbePlace& place,
                                       std::string_view definition, int error_number);

}  // namespace sonde
