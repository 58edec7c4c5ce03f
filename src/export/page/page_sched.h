// What threads did and when, for the explorer's page: columns in addition to those of page_data.h.
//
//   sched_thread    by lane: index of the thread
//   sched_count     by lane: number of slices
//   sched_gap       ns from the end of the previous slice, or from the first sample
//   sched_length    ns
//   sched_state     as view::TaskState
//   sched_cpu       plus one; 0: not known
//   sched_waker     index of a thread, plus one; 0: not known
#pragma once

#include "export/page/page_columns.h"
#include "stacks/stack_profile.h"
#include "view/timeline.h"

namespace sonde {

/// Threads are matched to the profile's by tid; those that the profile does not have are left out.
/// `begin_ns`: start of the page.
void add_sched_columns(PageColumns& columns, const StackProfile& profile,
                       const view::Timeline& timeline, uint64_t begin_ns);

}  // namespace sonde
