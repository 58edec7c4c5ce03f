// One scheduler event, in the few words that the analyses need, extracted from a sample of one of
// its tracepoints (include/trace/events/sched.h). What they rarely need stays in the record.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde {

enum class SchedKind : uint8_t {
  kSwitch,     // sched_switch: a CPU switches from one task to another
  kRuntime,    // sched_stat_runtime: a task ran for some time
  kWaking,     // sched_waking: reported by the waker
  kWakeup,     // sched_wakeup: the same, later, on the woken task's CPU
  kWakeupNew,  // sched_wakeup_new: a task that was just forked
  kMigrate,    // sched_migrate_task
  kFork,       // sched_process_fork
  kRecord,     // not a sample: COMM, FORK, EXIT and LOST records
  kOther,      // a sample of any other event: never delivered
};
/// A set of kinds.
using SchedKinds = uint32_t;
[[nodiscard]] constexpr SchedKinds kinds(auto... kind) {
  return (0u | ... | (1u << static_cast<unsigned>(kind)));
}
[[nodiscard]] constexpr bool holds(SchedKinds set, SchedKind kind) {
  return (set & kinds(kind)) != 0;
}

/// CPU numbers are below this; a sample with a higher one is damaged.
inline constexpr uint32_t kMaxCpus = 1 << 16;

struct SchedEvent {
  uint64_t time = 0;                  // ns
  const std::byte* record = nullptr;  // its header
  uint64_t value = 0;                 // switch: prev_state; runtime: ns; migrate: orig_cpu
  uint32_t pid = 0, tid = 0;          // in whose context the sample was taken
  uint32_t task = 0;  // the tid it is about; switch: the outgoing one; fork: the child
  uint32_t next = 0;  // switch: the incoming tid; migrate: dest_cpu
  uint16_t cpu = 0;
  uint16_t event = 0;  // index of the recording's event
  SchedKind kind = SchedKind::kOther;
};

}  // namespace sonde
