// `script -g python`: a script to start from, with a handler for every tracepoint of a recording.
// It runs under perf, too.
//
// Every name in a recording is somebody else's text: it gets into the script as an identifier or as
// a literal only (base/foreign/code_text.h, python/handler_names.h).
#pragma once

#include <string>
#include <vector>

#include "event/print_fmt/tracepoint_format.h"
#include "perfdata/read/file_scan.h"

namespace sonde::python {

/// `formats`: of each event in its order, null where it has none; a handler for each name.
/// `has_other_events`: also a handler for samples that are not of tracepoints.
std::string script_template(const std::vector<const TracepointFormat*>& formats,
                            bool has_other_events);
/// The script for a recording's events.
std::string script_template(const FileScan& recording);

}  // namespace sonde::python
