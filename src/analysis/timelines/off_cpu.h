// What threads waited for, as stacks: the thread's name, where it left the CPU, "--", and the
// waker's stack from the innermost frame out (marked "_[w]"), ending in its name.
//
//   cat;read;schedule;--;try_to_wake_up_[w];write_[w];gzip_[w] 31000000
//
// Waits that the recording cuts off are left out, and so is time in which a thread waited for a
// CPU.
#pragma once

#include <cstdint>
#include <vector>

#include "stacks/stack_profile.h"
#include "view/timeline.h"

namespace sonde {

/// Of all waits; the column is "off-cpu" in nanoseconds.
StackProfile off_cpu_stacks(const view::Timeline& timeline);

struct ProfileWithWaits {
  StackProfile profile;
  /// Per sample: which sample of the original profile it is; UINT32_MAX: a wait.
  std::vector<uint32_t> sample_before;
};
/// A profile of the same recording, with the waits added as samples of one more event, "off-cpu",
/// each at its end. Frames with names that the profile has are the profile's. Every thread of the
/// timeline is among the profile's threads. Samples no longer have places.
ProfileWithWaits with_waits(StackProfile profile, const view::Timeline& timeline);

}  // namespace sonde
