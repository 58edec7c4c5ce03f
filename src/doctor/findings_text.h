// Findings as lines: "ok", "in part" or "no", the subject, what was found, and below it the remedy.
#pragma once

#include <vector>

#include "base/sink.h"
#include "doctor/finding.h"

namespace sonde::doctor {

/// Returns whether everything works, at least in part.
bool show(const std::vector<Finding>& findings, Sink& out);

}  // namespace sonde::doctor
