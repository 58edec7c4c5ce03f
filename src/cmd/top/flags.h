// The flags of `top`.
#pragma once

#include "cli/flags.h"
#include "top/options.h"

namespace sonde::top {

/// Every option; `o` must outlive the table.
void declare_flags(FlagTable& flags, TopOptions& o);

}  // namespace sonde::top
