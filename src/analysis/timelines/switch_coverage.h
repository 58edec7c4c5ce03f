// Which context switches a recording has. What a thread did between two events is known only if
// nothing happened in between that was not recorded:
//
//   every switch of every CPU   runs and waits are known
//   every switch of some CPUs   runs on these CPUs are known; a thread that left one of them may
//                               have run on another
//   only some switches          nothing is known: events of some tasks only (they tell when such a
//                               task leaves a CPU, never when it comes back), or every n-th
//
// Recorders say for which tasks and CPUs they opened events (THREAD_MAP, CPU_MAP), and attrs say
// how many events there are to a sample. A filter is said nowhere; it shows in switches that do not
// follow from each other (sched_timeline.h).
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "replay/session.h"

namespace sonde {

/// The kernel dropped events of a CPU, before this time.
struct SchedLoss {
  uint64_t time_ns = 0;
  uint32_t cpu = UINT32_MAX;  // UINT32_MAX: not known
};

struct SwitchCoverage {
  enum class Kind : uint8_t {
    kUnknown,   // the recording does not say: only switches that follow from each other are trusted
    kEveryCpu,  // every switch, as far as the recorder could
    kSomeCpus,
  };
  Kind kind = Kind::kUnknown;
  std::string partial = {};            // of some CPUs: "only CPU 0 of 4 was recorded"
  std::vector<SchedLoss> losses = {};  // by time
};

/// Fails with kFailed, and says what to record with, if the events were opened for some tasks.
Result<SwitchCoverage> switch_coverage(const Session& session);

/// Fails with kFailed if an event of the scheduler was not recorded each time, or for one command.
Result<> need_each_time(const std::string& path, const EventDesc& event);

/// Fails with kFailed if most switches do not follow from the one before on their CPU: of `pairs`
/// of neighbours on a CPU, so many contradict each other.
Result<> need_most_to_follow(const std::string& path, uint64_t contradictions, uint64_t pairs);

}  // namespace sonde
