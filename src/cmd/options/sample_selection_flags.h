// The flags that select samples of a recording: -e, --pid, --tid, --comm, --dso, --cpu, --time. For
// commands that turn profiles into something else; `selection` must outlive the table.
#pragma once

#include <string>

#include "cli/flags.h"
#include "stacks/sample_selection.h"

namespace sonde {

/// All of them.
void declare_sample_selection(
    FlagTable& flags, SampleSelection& selection,
    std::string event_help = "only samples of this event (default: the first that has any)");
/// --pid, --tid.
void declare_task_selection(FlagTable& flags, SampleSelection& selection);
/// --comm, --dso, --cpu, --time.
void declare_place_selection(FlagTable& flags, SampleSelection& selection);

}  // namespace sonde
