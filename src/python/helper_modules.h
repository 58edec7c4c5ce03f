// Modules that scripts import and that come with perf: Core, Util, EventClass. Where perf's own are
// not installed, scripts get these, with the same names and functions.
#pragma once

#include "base/error.h"

namespace sonde::python {

/// Lets imports find them after everything on sys.path.
Result<> add_helper_modules();

}  // namespace sonde::python
