// What threads did and when, as the explorer's page draws it: columns beside those of page_data.h.
//
//   sched_thread    by lane: index of the thread
//   sched_count     by lane: its slices
//   sched_gap       ns from the end of the slice before, or from the first sample
//   sched_length    ns
//   sched_state     as view::TaskState
//   sched_cpu       plus one; 0: not known
//   sched_waker     index of a thread, plus one; 0: nobody is known
#pragma once

#include "export/page_columns.h"
#include "stacks/stack_profile.h"
#include "view/timeline.h"

namespace sonde {

/// Threads are found among the profile's by their numbers; those that it does not have are left
/// out. `begin_ns`: of the page.
void add_sched_columns(PageColumns& columns, const StackProfile& profile,
                       const view::Timeline& timeline, uint64_t begin_ns);

}  // namespace sonde
