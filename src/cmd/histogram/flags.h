// The flags of `histogram`.
#pragma once

#include "base/error.h"
#include "cli/flags.h"
#include "histogram/options.h"

namespace sonde {

void declare_histogram_flags(FlagTable& flags, HistogramOptions& options);
/// Takes the event, its field and the command from the words. Errors: what does not fit together.
Result<> finish_histogram_options(HistogramOptions& options, const Arguments& arguments);

}  // namespace sonde
