// A hardware breakpoint on a variable, of this process and of the threads that it starts.
#pragma once

#include "base/error.h"
#include "base/file.h"
#include "base/sys.h"

namespace sonde {

/// Watches reads and writes of `*address`. Errors: kUnsupported if the machine has no more, or no
/// breakpoints; kPermission.
Result<Fd> watch_variable(Sys& sys, const int* address);

}  // namespace sonde
