// The flags of `flamegraph`.
#pragma once

#include "cli/flags.h"
#include "export/pictures/flame_drawing.h"

namespace sonde {

/// Every option; `options` must outlive the table.
void declare_flame_drawing(FlagTable& flags, FlameDrawingOptions& options);

}  // namespace sonde
