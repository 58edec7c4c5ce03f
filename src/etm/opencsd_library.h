// Arm's decoder of CoreSight traces, loaded on first use: few recordings have such traces, and each
// program start would pay for it.
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>

#include "base/error.h"

namespace sonde::etm {

/// As declared in opencsd_c_api.h, without the prefix.
struct OpencsdLibrary {
#define SONDE_OPENCSD_FUNCTION(name) decltype(&::ocsd_##name) name = nullptr;
#include "etm/opencsd_functions.def"
#undef SONDE_OPENCSD_FUNCTION

  /// Stays loaded. kUnsupported if it is not installed.
  static Result<const OpencsdLibrary*> load();
};

}  // namespace sonde::etm
