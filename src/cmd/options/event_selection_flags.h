// The flags that select events: -e, --pfm-events, --filter and -G.
#pragma once

#include "capture/opening/event_selection.h"
#include "cli/flags.h"

namespace sonde {

/// `selection` must outlive the table.
void declare_event_selection(FlagTable& flags, EventSelection& selection);

}  // namespace sonde
