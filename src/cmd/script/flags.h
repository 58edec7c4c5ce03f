// The flags of `script`.
#pragma once

#include "cli/flags.h"
#include "script/options.h"

namespace sonde {

/// Every option; `options` must outlive the table.
void declare_script_flags(FlagTable& flags, ScriptOptions& options);

}  // namespace sonde
