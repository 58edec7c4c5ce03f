// What the running kernel's BTF says that a BPF program cannot find out by CO-RE.
#pragma once

namespace sonde {

/// Whether sched_switch hands over the state in which a task left its CPU (Linux 5.18; backported
/// to some before). Without it the state is the task's own, which whoever wakes it may have
/// changed.
[[nodiscard]] bool switches_tell_state();

}  // namespace sonde
