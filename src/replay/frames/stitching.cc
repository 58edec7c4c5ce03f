#include "replay/frames/stitching.h"

#include <algorithm>

#include "replay/frames/chain_builder.h"
#include "unwind/call_stack_branches.h"

namespace sonde {

void warn_about_stitching(const Recording& recording, Sink& err) {
  const std::vector<EventDesc>& events = recording.events().all();
  if (std::ranges::none_of(events, [](const EventDesc& e) { return has_call_stacks(e.attr); }))
    err.write(
        "--stitch-lbr has nothing to put together: call stacks by branch records are recorded with "
        "--call-graph lbr\n");
  else if (branch_depth(recording.features()) == 0)
    err.write(
        "--stitch-lbr: the recording does not give the number of LBR entries; call stacks are "
        "shown unstitched\n");
}

}  // namespace sonde
