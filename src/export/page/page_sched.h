// What threads did and when, for the explorer's page: columns in addition to those of page_data.h.
//
//   sched_thread    by lane: index of the thread
//   sched_count     by lane: number of slices
//   sched_gap       ns from the end of the previous slice, or from the first sample
//   sched_length    ns
//   sched_state     as view::TaskState
//   sched_cpu       plus one; 0: not known
//   sched_waker     index of a thread, plus one; 0: not known
//   sched_ended     by lane: when the thread exited, ns from the first sample, plus one; 0: not
//   seen sched_span      two numbers, ns from the first sample: the scheduler's first event and its
//   last sched_unknown_cpu, sched_unknown_start, sched_unknown_length
//                   where it is not known what a CPU did; by start, in ns from the first sample
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
