// What threads waited for, as stacks: name of the thread, where it left the CPU, "--", and the
// waker's stack from the inside to the outside (marked "_[w]") up to its name.
//
//   cat;read;schedule;--;try_to_wake_up_[w];write_[w];gzip_[w] 31000000
//
// Times that the recording cuts off are not part of it, nor is time in which a thread waited for a
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
  /// By sample: which of the samples before it is; UINT32_MAX: a wait.
  std::vector<uint32_t> sample_before;
};
/// A profile of the same recording, and the waits as samples of one more event, "off-cpu", each at
/// its end. Frames are the profile's where it has their names. Every thread of the timeline is
/// among the profile's threads. Samples have no places any more.
ProfileWithWaits with_waits(StackProfile profile, const view::Timeline& timeline);

}  // namespace sonde
