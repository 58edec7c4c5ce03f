// Which functions of a thread ran when, for the explorer's page: columns in addition to those of
// page_data.h.
//
//   call_thread     by lane: index of the thread
//   call_count      by lane: number of calls
//   call_gap        ns from the start of the previous call of the lane, or from the first sample
//   call_length     ns
//   call_depth      0: the outermost
//   call_frame      index of its frame
//   call_cut        1: not seen to be entered, or to return
#pragma once

#include "export/page/page_columns.h"
#include "stacks/stack_profile.h"
#include "view/timeline.h"

namespace sonde {

/// The profile is that of the timeline's calls (call_stacks). `begin_ns`: start of the page.
void add_call_columns(PageColumns& columns, const StackProfile& profile,
                      const view::Timeline& timeline, uint64_t begin_ns);

}  // namespace sonde
