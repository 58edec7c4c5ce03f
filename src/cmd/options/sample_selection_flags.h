// The flags that select samples of a recording: -e, --pid, --tid, --comm, --dso, --cpu, --time.
#pragma once

#include <string>

#include "cli/flags.h"
#include "stacks/sample_selection.h"

namespace sonde {

/// `selection` must outlive the table.
void declare_sample_selection(
    FlagTable& flags, SampleSelection& selection,
    std::string event_help = "only samples of this event (default: the first that has any)");

}  // namespace sonde
